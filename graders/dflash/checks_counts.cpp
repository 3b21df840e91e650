// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// One request whose drafts have `low`..`high` right nodes among `wrong` wrong ones.
Problem single(const Language& language, Shape shape, std::int64_t low, std::int64_t high,
               std::int64_t wrong, std::int64_t max_new, Rng& rng) {
  return {&language,
          {random_prompt(language, rng.integer(1, 20), max_new, rng)},
          high + wrong,
          planned_drafter(language, rng.seed(), [shape, low, high, wrong](Rng& own) {
            TreePlan plan;
            plan.shape = shape;
            plan.correct = own.integer(low, high);
            plan.nodes = plan.correct + wrong;
            plan.order = static_cast<Order>(own.integer(0, 2));
            return plan;
          })};
}

/// Requests that end at very different times.
Problem uneven(const Language& language, Rng& rng) {
  Problem problem{&language, {}, 8, chain_drafter(language, rng.seed(), 0, 8)};
  for (const std::int64_t max_new : {3, 40, 5, 8, 13, 1, 21})
    problem.prompts.push_back(random_prompt(language, rng.integer(1, 20), max_new, rng));
  rng.shuffle(problem.prompts);
  return problem;
}

void passes_on_branches(Probe& probe) {
  for (int turn = 0; turn < 5; ++turn) {
    Rng rng = probe.begin_case(fmt::format("branches_{}", turn));
    const Language language(rng.integer(20, 60), rng);
    require_fewest_passes(
        probe, require_right(probe, single(language, turn % 2 == 0 ? Shape::bush : Shape::comb, 1,
                                           4, rng.integer(6, 12), 40, rng)));
  }
  Rng rng = probe.begin_case("behind_many");
  const Language words(rng.integer(11, 20), rng);
  const auto behind = [&words](std::size_t, std::int64_t, State text) {
    return late_path(words, text, 4200, 2);
  };
  require_fewest_passes(
      probe,
      require_right(probe, Problem{&words, {random_prompt(words, 3, 9, rng)}, 4202, behind}));
  rng = probe.begin_case("long_comb");
  const Language language(rng.integer(20, 60), rng);
  require_fewest_passes(probe, require_right(probe, with_long_comb(language, rng)));
}

void passes_on_chains(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    Rng rng = probe.begin_case(fmt::format("chains_{}", turn));
    const Language language(rng.integer(20, 60), rng);
    const std::int64_t length = turn == 0 ? 16 : rng.integer(2, 7);
    require_fewest_passes(
        probe, require_right(probe, single(language, Shape::chain, turn < 2 ? length : 0, length,
                                           turn < 2 ? 0 : 2, turn == 0 ? 85 : 40, rng)));
  }
  Rng rng = probe.begin_case("long_text");
  const Language language(rng.integer(20, 60), rng);
  require_fewest_passes(probe, require_right(probe, long_request(language, rng)));
}

void one_pass_for_all(Probe& probe) {
  for (int turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(fmt::format("uneven_{}", turn));
    const Language language(rng.integer(20, 60), rng);
    require_fewest_passes(probe, require_right(probe, uneven(language, rng)));
  }
  Rng rng = probe.begin_case("crowd");
  Language language(rng.integer(20, 60), rng);
  Problem crowd{&language, {}, 3, chain_drafter(language, rng.seed(), 0, 3)};
  for (std::int64_t left = rng.integer(257, 270); left > 0; --left)
    crowd.prompts.push_back(random_prompt(language, rng.integer(1, 5), rng.integer(1, 3), rng));
  require_fewest_passes(probe, require_right(probe, crowd));

  rng = probe.begin_case("ample_limits");
  Problem problem = ample_limits(language, rng);
  problem.budget = 65'535;
  require_fewest_passes(probe, require_right(probe, problem));
}

void ended_requests(Probe& probe) {
  for (int turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(fmt::format("uneven_{}", turn));
    Language language(rng.integer(20, 60), rng);
    if (turn == 1) language.end_with({nonzero_token(language, rng)}, 0.08);
    const Answer seen = require_right(probe, uneven(language, rng));
    if (const auto& late = seen.model->late_request()) probe.fail(late->text);
  }
  Rng rng = probe.begin_case("large_ends");
  Language language(rng.integer(132'000, 140'000), rng);
  const Answer seen = require_right(probe, large_ends(language, rng));
  if (const auto& late = seen.model->late_request()) probe.fail(late->text);
}

void draft_context(Probe& probe) {
  for (int turn = 0; turn < 3; ++turn) {
    Rng rng = probe.begin_case(fmt::format("contexts_{}", turn));
    const Language language(rng.integer(20, 60), rng);
    const Answer seen = require_right(probe, uneven(language, rng));
    if (const auto& stale = seen.model->stale_context()) probe.fail(stale->text);
  }
  Rng rng = probe.begin_case("long_context");
  const Language language(rng.integer(20, 60), rng);
  Problem problem{&language, {}, 3, chain_drafter(language, rng.seed(), 0, 3)};
  problem.prompts.push_back(random_prompt(language, rng.integer(263'000, 270'000), 5, rng));
  const Answer seen = require_right(probe, problem);
  if (const auto& stale = seen.model->stale_context()) probe.fail(stale->text);
}

void reported_counts(Probe& probe) {
  for (int turn = 0; turn < 3; ++turn) {
    Rng rng = probe.begin_case(fmt::format("counts_{}", turn));
    Language language(rng.integer(20, 60), rng);
    if (turn > 0) language.end_with({nonzero_token(language, rng)}, 0.08);
    require_counts(probe, require_right(probe, uneven(language, rng)));
  }
}

/// One long request among many short ones, as a server has them.
Answer serve_mixed(Probe& probe, const char* name) {
  Rng rng = probe.begin_case(name);
  const Language language(rng.integer(30, 60), rng);
  Problem problem{&language, {}, 16, chain_drafter(language, rng.seed(), 2, 16)};
  for (int r = 0; r < 12; ++r)
    problem.prompts.push_back(random_prompt(language, rng.integer(1, 40), r == 5 ? 90 : 4, rng));
  return require_right(probe, problem);
}

double ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

// The share of points is the share of passes that was needed. What a fifth more passes cost no
// drafter can bring back.
void forward_passes(Probe& probe) {
  const Answer seen = serve_mixed(probe, "passes");
  const std::int64_t need = seen.fewest_forwards();
  const std::int64_t made = seen.model->forwards();
  probe.fact("forward passes over the fewest possible", ratio(made, need), "x");
  if (5 * made > 6 * need)
    probe.fail(
        fmt::format("{} forward passes where {} do, want {} or fewer", made, need, 6 * need / 5));
  probe.earn(std::min(1.0, ratio(need, made)));
}

// Rows are the work of a pass. Laying out every path on its own may take three times the nodes, and
// costs points; four times is no layout.
void forward_rows(Probe& probe) {
  const Answer seen = serve_mixed(probe, "rows");
  const std::int64_t need = seen.fewest_rows();
  const std::int64_t made = seen.model->rows();
  probe.fact("rows over those of the drafted trees", ratio(made, need), "x");
  if (made > 4 * need)
    probe.fail(fmt::format("{} rows in the forward passes, the drafted trees have {}", made, need));
  probe.earn(std::min(1.0, ratio(need, made)));
}

}  // namespace

std::vector<Check> counts_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"passes_on_branches", "accepting less than the tree holds: first children only",
        correctness, 2, major},
       passes_on_branches},
      {{"passes_on_chains", "accepting less than a chain holds: no bonus, one node a pass",
        correctness, 2, major},
       passes_on_chains},
      {{"one_pass_for_all", "a forward pass for every request instead of one for all", correctness,
        1, major},
       one_pass_for_all},
      {{"reported_counts", "rounds and accepted tokens claimed, not counted", correctness, 0.5,
        minor},
       reported_counts},
      {{"ended_requests", "requests that have ended and are still in the passes", robustness, 1,
        major},
       ended_requests},
      {{"draft_context", "a drafter that is not told the latest tokens", robustness, 1, major},
       draft_context},
      {{"forward_passes", "more passes of the target than the drafts make necessary", performance,
        2, minor},
       forward_passes},
      {{"forward_rows", "rows of the target that nobody needs", performance, 1, minor},
       forward_rows},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
