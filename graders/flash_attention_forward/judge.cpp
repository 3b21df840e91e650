// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include "graders/kit/compare.h"
#include "graders/kit/tolerance.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Visits o and lse.
template <class Visit>
void for_each_result(const Problem& problem, const Visit& visit) {
  const kit::AttentionProblem& form = problem.form;
  visit(&Answer::o, &Expected::o, &Expected::o_bound,
        kit::index_namer("o", {form.batch, form.q_heads, form.q_len, form.value_dim}));
  visit(&Answer::lse, &Expected::lse, &Expected::lse_bound,
        kit::index_namer("lse", {form.batch, form.q_heads, form.q_len}));
}

}  // namespace

double allowance(const Problem& problem) {
  constexpr double kUnit = 0x1p-24;
  return kUnit * (24 + static_cast<double>(problem.form.k_len) / 64);
}

double allowed_error(const Problem& problem, double bound) {
  constexpr double kSubnormalSteps = 0x1p-148;  // two for each key
  return bound > 0 ? allowance(problem) * bound +
                         kSubnormalSteps * static_cast<double>(problem.form.k_len)
                   : 0;
}

Answer require_right(Probe& probe, const Problem& problem, const CallOptions& options) {
  Answer got = ask(probe, problem, options);
  require_close(probe, problem, got, expect(problem));
  return got;
}

void require_close(Probe& probe, const Problem& problem, const Answer& got,
                   const Expected& expected, double slack) {
  for_each_result(problem, [&](auto part, auto value, auto bound, const kit::IndexNamer& name) {
    if ((got.*part).empty()) return;
    std::vector<double> allowed = expected.*bound;
    for (double& number : allowed) number = slack * allowed_error(problem, number);
    if (const auto miss = kit::worst_miss(got.*part, expected.*value, allowed, name))
      probe.fail(*miss, {kit::describe(problem.form)});
    kit::note_share(probe, kit::worst_ratio(got.*part, expected.*value, allowed, 1));
  });
}

void require_equal(Probe& probe, const Problem& problem, const Answer& got, const Answer& want) {
  for_each_result(problem, [&](auto part, auto, auto, const kit::IndexNamer& name) {
    probe.require(kit::first_difference(got.*part, want.*part, name));
  });
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
