// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

/// The answer of a solution that is right.
Answer right_answer(const SolvedProblem& solved) {
  const Settings& settings = solved.problem.settings;
  Answer answer;
  for (const Expected& item : solved.want) {
    answer.hypotheses.push_back(static_cast<std::int32_t>(item.best.size()));
    answer.steps.push_back(static_cast<std::int32_t>(item.steps));
    for (std::size_t i = 0; i < static_cast<std::size_t>(settings.n_return); ++i) {
      Hypothesis one{{}, false, -HUGE_VAL, -HUGE_VAL};
      if (i < item.best.size()) one = item.best[i];
      answer.lengths.push_back(static_cast<std::int32_t>(one.tokens.size()));
      answer.finished.push_back(one.finished ? 1 : 0);
      answer.log_probs.push_back(one.log_prob);
      answer.scores.push_back(one.score);
      one.tokens.resize(static_cast<std::size_t>(settings.max_new), settings.pad);
      answer.tokens.insert(answer.tokens.end(), one.tokens.begin(), one.tokens.end());
    }
  }
  return answer;
}

SolvedProblem small() {
  Rng rng(4);
  Settings settings;
  settings.pad = 3;
  return random_problem(rng, settings, 3);
}

/// One row put to a model.
struct Row {
  std::vector<std::uint64_t> states;
  std::vector<std::int32_t> tokens;
  std::vector<std::uint64_t> new_states = {0};
  std::vector<float> log_probs = std::vector<float>(4);

  std::int64_t put_to(Model& model) {
    BeamStep step{1, nullptr, nullptr, nullptr, nullptr};
    CallbackRequest request;
    const auto add = [&](auto& array) {
      request.arrays.push_back(std::as_writable_bytes(std::span(array)));
    };
    add(states);
    add(tokens);
    add(new_states);
    add(log_probs);
    return model.answer(step, request);
  }
};

}  // namespace

TEST_CASE("a right answer is accepted, and every changed number refused") {
  const SolvedProblem solved = small();
  const Answer right = right_answer(solved);
  const auto refused = [&](auto change) {
    Answer changed = right;
    change(changed);
    return difference(solved.problem, solved.want, changed).has_value();
  };
  // A sum may be 0, which no factor changes.
  std::size_t scaled = 0;
  while (right.log_probs.at(scaled) == 0) ++scaled;
  REQUIRE(std::isfinite(right.log_probs[scaled]));
  CHECK_FALSE(difference(solved.problem, solved.want, right));
  CHECK(refused([](Answer& answer) { answer.returned = 1; }));
  CHECK(refused([](Answer& answer) { answer.hypotheses[1] -= 1; }));
  CHECK(refused([](Answer& answer) { answer.lengths[1] += 1; }));
  CHECK(refused([](Answer& answer) { answer.finished[2] = 7; }));
  CHECK(refused([scaled](Answer& answer) { answer.log_probs[scaled] *= 1 + 1e-8; }));
  CHECK(refused([](Answer& answer) { answer.scores[5] = NAN; }));
  CHECK(refused([](Answer& answer) { answer.steps[2] += 1; }));
  CHECK(refused([](Answer& answer) { answer.tally.fault = "a state of its own"; }));
  for (std::size_t i = 0; i < right.tokens.size(); ++i)
    CHECK(refused([i](Answer& answer) { answer.tokens[i] ^= 1; }));
}

TEST_CASE("the model answers only for states that it gave out") {
  const SolvedProblem solved = small();
  Model model(solved.problem, Rng(9));
  Row row{{model.root_states()[2]}, {1}};
  CHECK(row.put_to(model) == 0);
  std::vector<float> want(4);
  solved.problem.language(root_of(2).extended(1), want);
  CHECK(row.log_probs == want);
  CHECK(model.tally().rows == std::vector<std::int64_t>{0, 0, 1});

  Row next{row.new_states, {0}};
  CHECK(next.put_to(model) == 0);
  CHECK(next.new_states != row.new_states);
  CHECK(model.tally().deepest[2] == 2);
  CHECK(model.tally().fault.empty());

  Row stranger{{model.root_states()[2] + 1}, {1}};
  CHECK(stranger.put_to(model) == kNoSuchState);
  CHECK_FALSE(model.tally().fault.empty());
}

TEST_CASE("a model that failed is not asked again") {
  const SolvedProblem solved = small();
  Model model(solved.problem, Rng(9), {.request = 1, .returned = -50});
  Row row{{model.root_states()[0]}, {1}};
  CHECK(row.put_to(model) == -50);
  CHECK(model.tally().fault.empty());
  CHECK(row.put_to(model) == kNoSuchState);
  CHECK_FALSE(model.tally().fault.empty());
}

TEST_CASE(
    "a model that is asked for the same row without end stops to answer and remembers no more") {
  const SolvedProblem solved = small();
  Model model(solved.problem, Rng(9));
  Row row{{model.root_states()[0]}, {1}};
  std::int64_t answered = 0;
  while (answered < 100'000 && row.put_to(model) == 0) ++answered;
  const Settings& settings = solved.problem.settings;
  CHECK(answered == std::int64_t{12} * settings.beam * (settings.max_new + 1));
  CHECK(model.tally().fault.find("4 times the rows") != std::string::npos);
  CHECK(model.tally().repeated_rows == answered - 1);
}
