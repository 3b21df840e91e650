// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <numeric>

#include "domain.h"
#include "drawing.h"
#include "graders/kit/assignments.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Items of every duration, side by side.
SolvedProblem uneven_batch(Rng& rng, std::int32_t policy) {
  Settings settings = random_settings(rng, policy);
  draw_sizes(rng, settings, {2, 4}, {5, 12}, {6, 14});
  const std::int64_t batch = rng.integer(8, 16);
  std::int64_t drawn = 0;
  const auto alternates = [&](const Language&, const Expected& want) {
    if (drawn % 2 == 0 ? want.steps > 3 : want.steps <= 3) return false;
    ++drawn;
    return true;
  };
  return random_problem(rng, settings, batch, draw_uneven_language, alternates);
}

/// Says what was asked of the model in vain; empty: nothing.
using Waste = std::function<std::string(const std::vector<Expected>&, const Tally&)>;

void require_no_waste_of(Probe& probe, const SolvedProblem& solved, const Answer& answer,
                         const Waste& waste) {
  require_no_difference(probe, solved, answer);
  if (const std::string wasted = waste(solved.want, answer.tally); !wasted.empty())
    probe.fail(wasted, {describe(solved.problem.settings)});
}

/// Small searches with items of every duration, and some of the whole domain.
void require_no_waste(Probe& probe, const Waste& waste) {
  constexpr std::size_t kOfTheDomain = 80;
  for (int turn = 0; turn < 6; ++turn) {
    const std::int32_t policy = turn % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("policy_{}_{}", policy, turn / 2));
    const SolvedProblem solved = uneven_batch(rng, policy);
    require_no_waste_of(probe, solved, ask(probe, rng, solved.problem), waste);
  }
  Rng rng = probe.common_stream("what the model is asked");
  kit::ask_each(probe, domain(), kit::random_assignments(domain(), rng, kOfTheDomain),
                [&](const kit::Assignment& choice, Rng& case_rng) {
                  const SolvedProblem solved = solved_problem_of(choice, case_rng);
                  const Answer answer = ask(probe, case_rng, solved.problem, options_of(choice));
                  // Wrong answers there fail other checks.
                  if (difference(solved.problem, solved.want, answer)) return;
                  require_no_waste_of(probe, solved, answer, waste);
                });
}

// One request a time step for the whole batch.
void requests(Probe& probe) {
  require_no_waste(probe, [](const std::vector<Expected>& want, const Tally& tally) {
    std::int64_t needed = 0;
    for (const Expected& item : want) needed = std::max(needed, item.steps - 1);
    if (tally.requests <= needed) return std::string();
    return fmt::format("asked the model {} times for {} items, want {}", tally.requests,
                       want.size(), needed);
  });
}

// One row for each open hypothesis, and no other.
void rows(Probe& probe) {
  require_no_waste(probe, [](const std::vector<Expected>& want, const Tally& tally) {
    const auto asked = std::accumulate(tally.rows.begin(), tally.rows.end(), std::int64_t{0});
    std::int64_t needed = 0;
    for (const Expected& item : want) needed += item.rows;
    if (asked <= needed) return std::string();
    return fmt::format("asked the model for {} rows, want {}", asked, needed);
  });
}

// An item that is done has no row in any later request, whatever its neighbours do.
void done_items_rest(Probe& probe) {
  require_no_waste(probe, [](const std::vector<Expected>& want, const Tally& tally) {
    for (std::size_t item = 0; item < want.size(); ++item)
      if (tally.deepest[item] > std::max<std::int64_t>(0, want[item].steps - 1))
        return fmt::format("item {} was done after {} steps, and asked for token {} of it", item,
                           want[item].steps, tally.deepest[item] + 1);
    return std::string();
  });
}

}  // namespace

std::vector<Check> cost_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"requests", "a request for each item or beam", performance, 2, major}, requests},
      {{"rows", "rows that no open hypothesis needs", performance, 1, minor}, rows},
      {{"done_items_rest", "asking on for items that are done", performance, 1, minor},
       done_items_rest},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
