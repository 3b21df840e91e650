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

/// Lists that are full of finished hypotheses early, beside open ones of which some cannot enter
/// any more: without a penalty sums only fall. They are open all the same.
SolvedProblem hopeless_beside_others(Rng& rng) {
  Settings settings = random_settings(rng, BEAM_SEPARATE);
  draw_sizes(rng, settings, {3, 5}, {8, 12}, {8, 12});
  settings.penalty = BEAM_PENALTY_NONE;
  settings.stop = rng.chance(0.5) ? BEAM_STOP_BOUND : BEAM_STOP_ESTIMATE;
  settings.eos = spread_tokens(rng, 3, settings.vocab);
  return random_problem(rng, settings, 40);
}

/// The best is finished before the item is done, mostly out of everyone's reach. Where nothing else
/// is returned, others are open all the same.
SolvedProblem settled_beside_open(Rng& rng, std::int32_t policy, std::int32_t penalty) {
  Settings settings = random_settings(rng, policy);
  draw_sizes(rng, settings, {3, 5}, {5, 9}, {6, 9});
  settings.n_return = 1;
  settings.penalty = penalty;
  settings.alpha = rng.uniform(0.1, 0.3);  // with it, too, hardly any score rises
  settings.stop = BEAM_STOP_BOUND;
  const auto settled = [](const Language&, const Expected& want) {
    if (want.best.empty()) return false;  // a dead end
    const Hypothesis& best = want.best.front();
    return best.finished && std::ssize(best.tokens) + 1 < want.steps;
  };
  return random_problem(rng, settings, 12, draw_language, settled);
}

/// Hypotheses that the model cannot tell apart once they are as long.
SolvedProblem converging_batch(Rng& rng, std::int32_t policy) {
  Settings settings = random_settings(rng, policy);
  draw_sizes(rng, settings, {3, 5}, {4, 7}, {5, 8});
  settings.penalty = BEAM_PENALTY_NONE;  // many sums are equal, and nothing hangs on rounding
  Problem drawn = random_problem(rng, settings, 8).problem;
  return solved_problem(settings, drawn.prompts, converging(drawn.language));
}

/// Says what was asked of the model in vain, or was not asked; empty: nothing.
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
  CallOptions one_state;
  one_state.states = StateNumbers::converging;
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("policy_{}_states_converge", policy));
    const SolvedProblem solved = converging_batch(rng, policy);
    require_no_waste_of(probe, solved, ask(probe, rng, solved.problem, one_state), waste);
  }
  Rng rng = probe.begin_case("hopeless_beside_others");
  const SolvedProblem hopeless = hopeless_beside_others(rng);
  require_no_waste_of(probe, hopeless, ask(probe, rng, hopeless.problem), waste);
  CallOptions without_steps;
  without_steps.missing = "steps";
  for (const std::int32_t policy : kPolicies)
    for (const std::int32_t penalty : {BEAM_PENALTY_NONE, BEAM_PENALTY_LENGTH}) {
      rng = probe.begin_case(fmt::format("policy_{}_penalty_{}_settled", policy, penalty));
      const SolvedProblem settled = settled_beside_open(rng, policy, penalty);
      require_no_waste_of(probe, settled, ask(probe, rng, settled.problem, without_steps), waste);
    }
  rng = probe.common_stream("what the model is asked");
  kit::ask_each(probe, domain(), kit::random_assignments(domain(), rng, kOfTheDomain),
                [&](const kit::Assignment& choice, Rng& case_rng) {
                  const auto judgeable = judgeable_problem_of(choice, case_rng);
                  if (!judgeable) return;
                  const SolvedProblem& solved = *judgeable;
                  const Answer answer = ask(probe, case_rng, solved.problem, options_of(choice));
                  // Wrong answers there fail other checks.
                  if (difference(solved.problem, solved.want, answer)) return;
                  require_no_waste_of(probe, solved, answer, waste);
                });
}

// One request a time step for the whole batch, with a row for each open hypothesis.
void requests(Probe& probe) {
  require_no_waste(probe, [](const std::vector<Expected>& want, const Tally& tally) {
    std::int64_t needed = 0;
    for (const Expected& item : want) needed = std::max(needed, item.steps - 1);
    if (tally.requests > needed)
      return fmt::format("asked the model {} times for {} items, want {}", tally.requests,
                         want.size(), needed);
    for (std::size_t item = 0; item < want.size(); ++item)
      if (tally.rows[item] < want[item].rows)
        return fmt::format("asked the model for {} rows of item {}, which had {} open hypotheses",
                           tally.rows[item], item, want[item].rows);
    return std::string();
  });
}

// One row for each open hypothesis, and no other.
void rows(Probe& probe) {
  require_no_waste(probe, [](const std::vector<Expected>& want, const Tally& tally) {
    const auto asked = std::accumulate(tally.rows.begin(), tally.rows.end(), std::int64_t{0});
    std::int64_t needed = 0;
    for (const Expected& item : want) needed += item.rows;
    if (asked == needed) return std::string();
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
      {{"requests", "a request for each item or beam, or without some open hypotheses", performance,
        2, major},
       requests},
      {{"rows", "more or fewer rows than there are open hypotheses", performance, 1, minor}, rows},
      {{"done_items_rest", "asking on for items that are done", performance, 1, minor},
       done_items_rest},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
