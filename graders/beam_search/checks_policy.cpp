// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "directed.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

const char* name_of_policy(std::int32_t policy) {
  return policy == BEAM_POOLED ? "pooled" : "separate";
}

bool survives_early(const Language&, const Expected& want) {
  return std::any_of(want.best.begin(), want.best.end(), [&](const Hypothesis& one) {
    return one.finished && std::ssize(one.tokens) < want.steps;
  });
}

/// Many searches at once: a call has one setting and a batch of models. Every setting is used
/// twice, so that an answer cannot be kept for the next call of its shape.
void random_models(Probe& probe, std::int32_t policy) {
  constexpr int kSettings = 36;
  for (int turn = 0; turn < kSettings; ++turn) {
    Rng rng = probe.begin_case(fmt::format("setting_{}", turn));
    Settings settings = random_settings(rng, policy);
    std::int64_t batch = rng.integer(12, 28);
    if (turn % 9 == 8) {  // a large one, in which many items finish hypotheses and go on
      batch = rng.integer(65, 90);
      draw_sizes(rng, settings, {2, 4}, {4, 9}, {4, 7});
    }
    if (turn % 9 == 7) {  // what is returned is often settled long before the item is done
      draw_sizes(rng, settings, {3, 5}, {4, 9}, {4, 7});
      settings.n_return = 1;
      settings.penalty = BEAM_PENALTY_NONE;
    }
    for (int call = 0; call < 2; ++call)
      require_right(probe, rng, random_problem(rng, settings, batch));
  }
}

// An item may finish a hypothesis early and go on; what it finished stays in the race until the
// end, with the score that it had.
void finished_compete(Probe& probe) {
  for (const Directed& one : directed_searches()) {
    if (!one.name.starts_with("early_eos") && one.name != "eos_outranks_longer") continue;
    Rng rng = probe.begin_case(one.name);
    require_right(probe, rng, directed_problem(rng, one, rng.integer(2, 5)));
  }
  for (const std::int32_t policy : kPolicies)
    for (const double alpha : {0.0, 0.6, 1.0}) {
      Rng rng = probe.begin_case(fmt::format("{}_alpha_{}", name_of_policy(policy), alpha));
      Settings settings = random_settings(rng, policy);
      settings.alpha = alpha;
      settings.penalty = BEAM_PENALTY_LENGTH;
      settings.stop = BEAM_STOP_BOUND;
      draw_sizes(rng, settings, {2, 4}, {4, 9}, {3, 6});
      require_right(probe, rng, random_problem(rng, settings, 12, draw_language, survives_early));
    }
  // An item is not done because what is returned of it cannot change any more.
  for (const std::int32_t policy : kPolicies) {
    Rng rng = probe.begin_case(fmt::format("{}_returns_one", name_of_policy(policy)));
    Settings settings = random_settings(rng, policy);
    draw_sizes(rng, settings, {4, 6}, {4, 9}, {5, 8});
    settings.penalty = BEAM_PENALTY_NONE;
    settings.stop = BEAM_STOP_BOUND;
    settings.n_return = 1;
    require_right(probe, rng, random_problem(rng, settings, 12, draw_language, survives_early));
  }
}

// Models on which the two policies end differently.
void policies_apart(Probe& probe) {
  for (const char* name : {"policy_pooled", "policy_separate"}) {
    Rng rng = probe.begin_case(name);
    require_right(probe, rng, directed_problem(rng, directed(name), 4));
  }
  for (int turn = 0; turn < 8; ++turn) {
    const std::int32_t policy = turn % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE;
    Rng rng = probe.begin_case(fmt::format("{}_{}", name_of_policy(policy), turn / 2));
    Settings settings = random_settings(rng, policy);
    draw_sizes(rng, settings, {2, 5}, {4, 9}, {3, 6});
    Settings other = settings;
    other.policy = policy == BEAM_POOLED ? BEAM_SEPARATE : BEAM_POOLED;
    for (int call = 0; call < 2; ++call)
      require_right(probe, rng, random_problem(rng, settings, 8, draw_language, unlike(other)));
  }
}

void random_pooled(Probe& probe) {
  random_models(probe, BEAM_POOLED);
}

void random_separate(Probe& probe) {
  random_models(probe, BEAM_SEPARATE);
}

}  // namespace

std::vector<Check> policy_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"finished_compete", "finished hypotheses that leave the race", correctness, 3, critical},
       finished_compete},
      {{"policies_apart", "one policy for both names", correctness, 3, critical}, policies_apart},
      {{"random_pooled", "anything but the pooled policy's rules", correctness, 3, critical},
       random_pooled},
      {{"random_separate", "anything but the separate policy's rules", correctness, 3, critical},
       random_separate},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
