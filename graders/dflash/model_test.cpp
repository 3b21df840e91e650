// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <doctest/doctest.h>
#include <functional>

#include "judge.h"

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

/// A solution that lives in the test: builds its passes from the drafter's trees by definition, and
/// can be told to do one thing wrong.
class ScriptedSolution {
 public:
  std::function<void(std::vector<std::int64_t>& position, std::vector<std::uint64_t>& mask)> pass =
      [](auto&, auto&) {};
  std::function<void(std::vector<std::int64_t>& slots)> kept = [](auto&) {};
  std::function<void(std::vector<std::int32_t>& context)> told = [](auto&) {};
  std::int64_t length_error = 0;
  int drafts_a_round = 1;
  std::int64_t nodes_fewer = 0;  // than the budget are wanted

  /// Runs the first rounds of a problem with one request; 0, or what a callback returned.
  std::int64_t run(Model& model, const Problem& problem, int rounds) {
    auto context = problem.prompts[0].tokens;
    for (int round = 0; round < rounds; ++round) {
      const Draft draft = draft_at(problem, 0, std::ssize(context));
      for (int i = 0; i < drafts_a_round; ++i)
        if (const auto code = ask_draft(model, problem, context)) return code;
      if (const auto code = ask_forward(model, problem, draft, context)) return code;
      const Walk walk = greedy(*problem.language, draft);
      context.insert(context.end(), walk.emit.begin(), walk.emit.end());
      if (const auto code = ask_keep(model, walk)) return code;
    }
    return 0;
  }

 private:
  template <class T>
  static std::span<std::byte> bytes(std::vector<T>& values) {
    return std::as_writable_bytes(std::span(values));
  }

  std::int64_t ask_draft(Model& model, const Problem& problem, std::vector<std::int32_t> context) {
    told(context);
    std::vector<std::int64_t> request{0}, length{std::ssize(context)}, nodes{0};
    std::vector<std::int32_t> parent(static_cast<std::size_t>(problem.budget)), token = parent;
    DflashDraft ask{};
    ask.num_requests = 1;
    ask.num_tokens = length[0];
    ask.budget = problem.budget - nodes_fewer;
    CallbackRequest raw;
    raw.arrays = {bytes(request), bytes(length), bytes(context),
                  bytes(nodes),   bytes(parent), bytes(token)};
    return model.draft(ask, raw);
  }

  std::int64_t ask_forward(Model& model, const Problem& problem, const Draft& draft,
                           const std::vector<std::int32_t>& context) {
    const auto sees = visible(draft.tree);
    std::vector<std::int64_t> request{0}, length{draft.context_length + length_error};
    std::vector<std::int64_t> rows{draft.tree.rows()}, position = depths(draft.tree);
    std::vector<std::int32_t> token{context.back()};
    token.insert(token.end(), draft.tree.token.begin(), draft.tree.token.end());
    std::vector<std::uint64_t> mask(sees.size());
    for (std::size_t row = 0; row < sees.size(); ++row) {
      position[row] += draft.context_length;
      for (std::size_t j = 0; j < sees.size(); ++j) mask[row] |= std::uint64_t{sees[row][j]} << j;
    }
    pass(position, mask);
    std::vector<float> logits(token.size() * static_cast<std::size_t>(problem.language->vocab()));
    DflashForward ask{};
    ask.num_requests = 1;
    ask.num_rows = std::ssize(token);
    ask.mask_words = 1;
    ask.vocab = problem.language->vocab();
    CallbackRequest raw;
    raw.arrays = {bytes(request),  bytes(length), bytes(rows),  bytes(token),
                  bytes(position), bytes(mask),   bytes(logits)};
    return model.forward(ask, raw);
  }

  std::int64_t ask_keep(Model& model, const Walk& walk) {
    std::vector<std::int64_t> request{0}, slots{0};
    for (const std::int32_t node : walk.path) slots.push_back(node + 1);
    kept(slots);
    std::vector<std::int64_t> count{std::ssize(slots)};
    DflashKeep ask{};
    ask.num_requests = 1;
    ask.num_slots = count[0];
    CallbackRequest raw;
    raw.arrays = {bytes(request), bytes(count), bytes(slots)};
    return model.keep(ask, raw);
  }
};

/// The directed tree whose path lies scattered: slots 0, 2, 4 and 5.
struct Scattered {
  Rng rng{31};
  DirectedTrees directed{rng};
  Problem problem;

  Scattered() {
    std::size_t which = 0;
    while (directed.names[which] != "scattered path") ++which;
    problem = {&directed.language, {directed.prompts[which]}, 8, {}};
    problem.prompts[0].max_new = 20;
    const auto begin = std::ssize(problem.prompts[0].tokens);
    const Tree tree = directed.drafts[which].tree;
    problem.drafter = [begin, tree](std::size_t, std::int64_t known, State) {
      return known == begin ? tree : Tree{};
    };
  }

  std::string complaint(ScriptedSolution solution, int rounds = 3) {
    Model model(problem);
    const std::int64_t code = solution.run(model, problem, rounds);
    CHECK((code != 0) == model.violation().has_value());
    return model.violation() ? model.violation()->text : "";
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a solution that keeps every rule breaks none") {
  Scattered scattered;
  CHECK(scattered.complaint({}, 8) == "");
}

TEST_CASE("a drafter who is asked again and again stops to answer") {
  Scattered scattered;
  ScriptedSolution solution;
  solution.drafts_a_round = 1000;  // max_new is 20
  CHECK(scattered.complaint(solution) == "draft 23: one draft a token is enough for any request");
}

TEST_CASE("the wrong slots in the cache are named, with what they hold") {
  Scattered scattered;
  ScriptedSolution solution;
  solution.kept = [](auto& slots) {
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = static_cast<std::int64_t>(i);
  };
  CHECK(contains(scattered.complaint(solution), "keeps slot 1 as token"));
  solution.kept = [](auto& slots) { slots.back() = 77; };
  CHECK(contains(scattered.complaint(solution), "the pass had"));
  solution.kept = [](auto& slots) { slots.insert(slots.begin(), 0); };
  CHECK(contains(scattered.complaint(solution), "keeps slot 0 as token"));
}

TEST_CASE("a slot with the right token from another branch is not the right slot") {
  Scattered scattered;
  // Node 5 gets the token that node 4 has, below another parent.
  const auto drafter = scattered.problem.drafter;
  scattered.problem.drafter = [drafter](std::size_t r, std::int64_t known, State text) {
    Tree tree = drafter(r, known, text);
    if (tree.nodes() > 0) tree.add(2, tree.token[4]);
    return tree;
  };
  ScriptedSolution solution;
  solution.kept = [](auto& slots) {
    if (slots.size() == 4) slots.back() = 6;
  };
  CHECK(contains(scattered.complaint(solution), "was computed on another branch"));
}

TEST_CASE("masks, positions and lengths that do not fit are told apart") {
  Scattered scattered;
  ScriptedSolution solution;
  solution.pass = [](auto&, auto& mask) {
    for (std::size_t row = 0; row < mask.size(); ++row) mask[row] = (std::uint64_t{2} << row) - 1;
  };
  CHECK(
      contains(scattered.complaint(solution), "mask: row 2 sees slot 1, which is not on its path"));
  solution.pass = [](auto& position, auto&) {
    for (std::size_t row = 0; row < position.size(); ++row)
      position[row] = position[0] + static_cast<std::int64_t>(row);
  };
  CHECK(contains(scattered.complaint(solution), "position: row 2 stands at"));
  solution.pass = [](auto&, auto& mask) { mask[0] |= std::uint64_t{1} << 40; };
  CHECK(contains(scattered.complaint(solution), "sees slot 40"));
  solution.pass = [](auto&, auto&) {};
  solution.length_error = 1;
  CHECK(contains(scattered.complaint(solution), "tokens are committed; it has kept"));
}

TEST_CASE("a drafter that is told too little answers nothing, and says so") {
  Scattered scattered;
  ScriptedSolution solution;
  solution.told = [](auto& context) { context.pop_back(); };
  Model model(scattered.problem);
  CHECK(solution.run(model, scattered.problem, 2) == 0);
  CHECK(model.stale_context().has_value());
}

TEST_CASE("it is known whether every pass came after drafts of the whole budget") {
  Scattered scattered;
  ScriptedSolution solution;
  const auto whole_drafts = [&] {
    Model model(scattered.problem);
    CHECK(solution.run(model, scattered.problem, 2) == 0);
    return model.whole_drafts();
  };
  CHECK(whole_drafts());
  solution.nodes_fewer = 1;
  CHECK_FALSE(whole_drafts());
  solution.nodes_fewer = 0;
  solution.drafts_a_round = 0;
  CHECK_FALSE(whole_drafts());
}

TEST_CASE("after the end of a request its drafts and passes are noticed") {
  Scattered scattered;
  scattered.problem.prompts[0].max_new = 4;  // what the first round emits
  Model model(scattered.problem);
  CHECK(ScriptedSolution().run(model, scattered.problem, 1) == 0);
  CHECK_FALSE(model.late_request().has_value());
  Scattered again;
  again.problem.prompts[0].max_new = 4;
  Model second(again.problem);
  ScriptedSolution().run(second, again.problem, 2);
  CHECK(second.late_request().has_value());
}

TEST_CASE("the oracle counts rounds, rows and accepted nodes") {
  Scattered scattered;
  scattered.problem.prompts[0].max_new = 6;
  const Expected expected = expect(scattered.problem, 0);
  CHECK(expected.emit.size() == 6);
  CHECK(expected.rounds == 3);  // four tokens from the tree, then one at a time
  CHECK(expected.rows == 6 + 1 + 1);
  CHECK(expected.accepted == 3);
}
