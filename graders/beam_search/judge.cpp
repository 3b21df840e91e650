// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "directed.h"
#include "graders/kit/bits.h"
#include "graders/kit/compare.h"
#include "graders/kit/inputs.h"
#include "graders/kit/memory.h"
#include "graders/kit/refusals.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::size_t kShownTokens = 24;
constexpr std::size_t kShownHypotheses = 8;

/// One item's part of an answer.
struct ItemAnswer {
  const Settings& settings;
  const Answer& answer;
  std::size_t item;

  std::size_t slot(std::size_t i) const {
    return item * static_cast<std::size_t>(settings.n_return) + i;
  }
  std::span<const std::int32_t> tokens(std::size_t i) const {
    const auto width = static_cast<std::size_t>(settings.max_new);
    return std::span(answer.tokens).subspan(slot(i) * width, width);
  }
};

std::string shown(std::span<const std::int32_t> tokens) {
  const bool cut = tokens.size() > kShownTokens;
  return fmt::format("[{}{}]", fmt::join(tokens.first(cut ? kShownTokens : tokens.size()), " "),
                     cut ? " ..." : "");
}

bool close(double got, double want) {
  return kit::within(want, got, kRelative * std::abs(want));
}

/// The first thing that is wrong with hypothesis i; empty when nothing is.
std::string wrong_hypothesis(const ItemAnswer& got, std::size_t i, const Hypothesis& want) {
  const std::size_t slot = got.slot(i);
  const auto length = std::ssize(want.tokens);
  if (got.answer.lengths[slot] != length)
    return fmt::format("length {}, want {}", got.answer.lengths[slot], length);
  const auto tokens = got.tokens(i);
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const std::int32_t wanted = at < want.tokens.size() ? want.tokens[at] : got.settings.pad;
    if (tokens[at] != wanted) return fmt::format("token {} is {}, want {}", at, tokens[at], wanted);
  }
  if (got.answer.finished[slot] != (want.finished ? 1 : 0))
    return fmt::format("finished {}, want {}", got.answer.finished[slot], want.finished ? 1 : 0);
  if (!close(got.answer.log_probs[slot], want.log_prob))
    return fmt::format("log_prob {:.17g}, want {:.17g}", got.answer.log_probs[slot], want.log_prob);
  if (!close(got.answer.scores[slot], want.score))
    return fmt::format("score {:.17g}, want {:.17g}", got.answer.scores[slot], want.score);
  return {};
}

std::string wrong_item(const ItemAnswer& got, const Expected& want) {
  const auto count = static_cast<std::int64_t>(got.answer.hypotheses[got.item]);
  if (count != std::ssize(want.best))
    return fmt::format("{} hypotheses, want {}", count, want.best.size());
  const Hypothesis absent{{}, false, -HUGE_VAL, -HUGE_VAL};
  for (std::size_t i = 0; i < static_cast<std::size_t>(got.settings.n_return); ++i) {
    const Hypothesis& wanted = i < want.best.size() ? want.best[i] : absent;
    if (const std::string wrong = wrong_hypothesis(got, i, wanted); !wrong.empty())
      return fmt::format("hypothesis {}: {}", i, wrong);
  }
  if (!got.answer.steps.empty() && got.answer.steps[got.item] != want.steps)
    return fmt::format("done after {} steps, want {}", got.answer.steps[got.item], want.steps);
  return {};
}

std::vector<std::string> both_lists(const ItemAnswer& got, const Expected& want) {
  std::vector<std::string> lines{describe(got.settings)};
  const auto count = std::min({static_cast<std::size_t>(got.settings.n_return), kShownHypotheses});
  for (std::size_t i = 0; i < std::min(want.best.size(), count); ++i)
    lines.push_back(fmt::format("want {} score {:.9g} log_prob {:.9g}", shown(want.best[i].tokens),
                                want.best[i].score, want.best[i].log_prob));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t slot = got.slot(i);
    const auto all = got.tokens(i);
    const auto length = std::clamp<std::int64_t>(got.answer.lengths[slot], 0, std::ssize(all));
    lines.push_back(fmt::format("got  {} score {:.9g} log_prob {:.9g}",
                                shown(all.first(static_cast<std::size_t>(length))),
                                got.answer.scores[slot], got.answer.log_probs[slot]));
  }
  return lines;
}

/// One item, of rows of 100 KB, that goes on to the end.
Problem wide_and_endless(Rng& rng) {
  Settings settings = random_settings(rng, kit::one_of(rng, {BEAM_POOLED, BEAM_SEPARATE}));
  settings.beam = settings.n_return = 4;
  settings.vocab = rng.integer(25'000, 27'000);
  settings.max_new = 3;
  settings.min_new = 0;
  settings.eos.clear();
  return {settings, random_prompts(rng, 1), large_language(rng)};
}

}  // namespace

std::optional<Finding> difference(const Problem& problem, const std::vector<Expected>& want,
                                  const Answer& got) {
  const auto wrong = [](std::string summary, std::vector<std::string> evidence = {}) {
    return Finding{Verdict::wrong, "", std::move(summary), std::move(evidence), std::nullopt};
  };
  if (!got.tally.fault.empty()) return wrong(got.tally.fault);
  if (got.returned != BEAM_OK) return wrong(fmt::format("it returned {}, want 0", got.returned));
  for (std::size_t item = 0; item < want.size(); ++item) {
    const ItemAnswer answer{problem.settings, got, item};
    if (const std::string what = wrong_item(answer, want[item]); !what.empty())
      return wrong(fmt::format("item {} of {}: {}", item, want.size(), what),
                   both_lists(answer, want[item]));
  }
  return std::nullopt;
}

void require_no_difference(Probe& probe, const SolvedProblem& solved, const Answer& got) {
  if (const auto finding = difference(solved.problem, solved.want, got))
    probe.fail(finding->summary, finding->evidence);
}

Answer require_right(Probe& probe, Rng& rng, const SolvedProblem& solved,
                     const CallOptions& options) {
  Answer got = ask(probe, rng, solved.problem, options);
  require_no_difference(probe, solved, got);
  return got;
}

Answer require_right(Probe& probe, Rng& rng, const Problem& problem) {
  return require_right(probe, rng, {problem, expect(problem)});
}

void require_right_directed(Probe& probe, std::string_view name, bool long_rows) {
  Rng rng = probe.begin_case(fmt::format("{}{}", name, long_rows ? "_of_long_rows" : ""));
  require_right(probe, rng, directed_problem(rng, directed(name), rng.integer(2, 4), long_rows));
}

void require_refused_without_arrays(Probe& probe, Rng& rng, const Settings& settings,
                                    std::int64_t batch) {
  const Problem nothing{settings, {}, {}};
  CallOptions without_arrays;
  without_arrays.null_when_empty = true;
  SearchCall refused(nothing, Rng(rng.seed()), without_arrays);
  refused.args.batch = batch;
  kit::require_refused(probe, refused, BEAM_BAD_ARGUMENT);
}

void require_freed(Probe& probe, Rng& rng) {
  constexpr std::int64_t kFailed = 77;
  const Problem problem = wide_and_endless(rng);
  // Where the model is not asked, of many tokens, for which a byte each may be held (few possible
  // ones: what lists of all leave free would take what is lost), or of many items, whose steps
  // nobody wants.
  Problem little = problem;
  little.language = [](const Context&, std::span<float> row) {
    std::ranges::fill(row, kForbidden);
    row[0] = -1;
  };
  little.settings.max_new = 1;
  little.settings.vocab *= 4;
  little.settings.eos = spread_tokens(rng, 2, little.settings.vocab);
  SearchCall first_step(little, Rng(rng.seed()));
  kit::require_freed(probe, first_step);
  little.settings.beam = little.settings.n_return = little.settings.vocab = 1;
  little.settings.max_new = 0;
  little.settings.eos.clear();
  little.prompts = random_prompts(rng, 25'000);
  CallOptions without_steps;
  without_steps.missing = "steps";
  SearchCall nothing(little, Rng(rng.seed()), without_steps);
  kit::require_freed(probe, nothing);
  // Where nothing may be done.
  SearchCall refused(problem, Rng(rng.seed()));
  refused.args.num_threads = 0;
  kit::require_freed(probe, refused, BEAM_BAD_ARGUMENT);
  // Each policy once, one of them with a model that fails.
  const bool pooled_fails = rng.chance(0.5);
  for (const std::int32_t policy : kPolicies) {
    const bool fails = pooled_fails == (policy == BEAM_POOLED);
    Problem asked = problem;
    asked.settings.policy = policy;
    SearchCall call(asked, Rng(rng.seed()));
    // What it answers is what the arrays hold: nobody looks at the hypotheses.
    call.callbacks()[0].answer = [fails, requests = 0](CallbackRequest&) mutable {
      return fails && ++requests % 2 == 0 ? kFailed : 0;
    };
    kit::require_freed(probe, call, fails ? kFailed : 0);
  }
}

void require_answers_let_go(Probe& probe, Rng& rng) {
  constexpr std::int64_t kMoreSteps = 16;
  Problem problem = wide_and_endless(rng);
  const auto held = [&] {
    SearchCall call(problem, Rng(rng.seed()));
    call.callbacks()[0].answer = [](CallbackRequest&) { return 0; };  // what the arrays hold
    return kit::fresh_peak_bytes(probe, call);
  };
  const std::int64_t of_few = held();
  problem.settings.max_new += kMoreSteps;
  const std::int64_t more = held() - of_few;
  const std::int64_t answer = problem.settings.beam * problem.settings.vocab * 4;
  if (more > kit::kProcessBytes + answer)
    probe.fail(
        fmt::format("holds {:.2f} MiB more in a search of {} more steps, want {:.2f} or less",
                    kit::mib(more), kMoreSteps, kit::mib(kit::kProcessBytes + answer)),
        {describe(problem.settings)});
}

void require_same_bits(Probe& probe, const Problem& problem, const Answer& one, std::size_t a,
                       const Answer& other, std::size_t b, const std::string& what) {
  const ItemAnswer left{problem.settings, one, a};
  const ItemAnswer right{problem.settings, other, b};
  const auto same = [](double x, double y) {
    return kit::same_bits(std::span(&x, 1), std::span(&y, 1));
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.settings.n_return); ++i) {
    const std::size_t l = left.slot(i);
    const std::size_t r = right.slot(i);
    if (!same(one.scores[l], other.scores[r]) || !same(one.log_probs[l], other.log_probs[r]))
      probe.fail(fmt::format("{}: hypothesis {} scores {:.17g} here and {:.17g} there", what, i,
                             one.scores[l], other.scores[r]),
                 {describe(problem.settings)});
    const auto x = left.tokens(i);
    const auto y = right.tokens(i);
    if (one.lengths[l] != other.lengths[r] || !kit::same_bits(x, y))
      probe.fail(
          fmt::format("{}: hypothesis {} is {} here and {} there", what, i, shown(x), shown(y)),
          {describe(problem.settings)});
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
