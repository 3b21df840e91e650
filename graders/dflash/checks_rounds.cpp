// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Requests of every kind in one call: long and short prompts, nothing wanted, never a draft, long
// chains beside short ones, ends at different times. Each alone must give the same.
void several_requests(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    Rng rng = probe.begin_case(fmt::format("mixed_{}", turn));
    Language language(rng.integer(80, 120), rng);
    if (turn % 2 == 1) language.end_with({nonzero_token(language, rng)}, 0.05);
    Problem problem{&language, {}, 70, {}};
    for (const std::int64_t max_new : {7, 0, 30, 1, 12, 18})
      problem.prompts.push_back(
          random_prompt(language, rng.chance(0.3) ? 1 : rng.integer(2, 130), max_new, rng));
    rng.shuffle(problem.prompts);
    const auto small = chain_drafter(language, rng.seed(), 0, 9);
    const auto big = chain_drafter(language, rng.seed(), 50, 70);
    problem.drafter = [small, big](std::size_t r, std::int64_t known, State text) {
      return r % 3 == 0 ? big(r, known, text) : r % 3 == 1 ? small(r, known, text) : Tree{};
    };
    require_right(probe, problem);
    // One of them again, alone.
    const std::size_t one = static_cast<std::size_t>(rng.integer(0, 5));
    const auto together = problem.drafter;
    Problem alone = problem;
    alone.prompts = {problem.prompts[one]};
    alone.drafter = [together, one](std::size_t, std::int64_t known, State text) {
      return together(one, known, text);
    };
    require_right(probe, alone);
  }
}

// Many nodes, few, none, and again: nothing of a bigger tree may be seen in a smaller one. Nor of
// one as large that is nearly the same.
void shrinking_trees(Probe& probe) {
  for (int turn = 0; turn < 3; ++turn) {
    Rng rng = probe.begin_case(fmt::format("sizes_{}", turn));
    const Language language(rng.integer(80, 120), rng);
    Problem problem{&language, {}, 66, {}};
    for (int r = 0; r < 2; ++r)
      problem.prompts.push_back(random_prompt(language, rng.integer(1, 20), 24, rng));
    const Seed seed = rng.seed();
    problem.drafter = [&language, seed](std::size_t r, std::int64_t known, State text) {
      Rng own = draft_rng(seed, r, known);
      constexpr std::int64_t kSizes[] = {66, 3, 0, 33, 1};
      TreePlan plan = random_plan(kSizes[known % 5], own);
      plan.correct = std::min<std::int64_t>(plan.correct, 2);
      return grow(language, text, plan, own);
    };
    require_right(probe, problem);
  }
  for (const bool chains : {true, false}) {
    Rng rng = probe.begin_case(chains ? "nearly_chains" : "nearly_stars");
    const Language language(rng.integer(100, 140), rng);
    require_right(probe, alike_drafts(language, chains, rng));
  }
}

// Drafts that are never right, for more tokens than a byte counts: one token a pass, nothing but
// the root kept.
void total_rejection(Probe& probe) {
  Rng rng = probe.begin_case("token_by_token");
  const std::int64_t tokens = rng.integer(257, 280);
  const Language language(rng.integer(20, 40), rng);
  Problem problem{&language, {random_prompt(language, rng.integer(1, 70), tokens, rng)}, 6, {}};
  problem.drafter = planned_drafter(language, rng.seed(),
                                    [](Rng& own) { return chain_plan(0, own.integer(1, 6)); });
  const Answer seen = require_right(probe, problem);
  if (seen.model->forwards() != tokens)
    probe.fail(fmt::format("{} forward passes for {} tokens without a right draft",
                           seen.model->forwards(), tokens));
  require_counts(probe, seen);
}

}  // namespace

std::vector<Check> rounds_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"several_requests", "requests that get each other's rows, lengths or tokens", correctness,
        2, critical},
       several_requests},
      {{"shrinking_trees", "slots of an earlier, bigger tree still in use", robustness, 2, major},
       shrinking_trees},
      {{"total_rejection", "a cache that is reset, or grows, when everything is rejected",
        robustness, 1, major},
       total_rejection},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
