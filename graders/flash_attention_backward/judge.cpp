// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <algorithm>
#include <cmath>

#include "graders/kit/compare.h"
#include "graders/kit/tolerance.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Visits dq, dk, dv and delta.
template <class Visit>
void for_each_result(const Problem& problem, const Visit& visit) {
  const auto namer = [](const char* name, const kit::Extents& extents) {
    return kit::index_namer(name, {extents.batch, extents.heads, extents.rows, extents.columns});
  };
  const kit::AttentionProblem& form = problem.form;
  visit(&Answer::dq, &Results<double>::dq, namer("dq", problem.q.extents));
  visit(&Answer::dk, &Results<double>::dk, namer("dk", problem.k.extents));
  visit(&Answer::dv, &Results<double>::dv, namer("dv", problem.v.extents));
  visit(&Answer::delta, &Results<double>::delta,
        kit::index_namer("delta", {form.batch, form.q_heads, form.q_len}));
}

}  // namespace

std::vector<double> allowed_for(std::vector<double> bounds) {
  constexpr double kSmallest = 1e-36;  // products of small numbers underflow
  for (double& bound : bounds) bound = bound > 0 ? kRoundings * bound + kSmallest : 0;
  return bounds;
}

Expected with_bounds_of(Expected expected, const Expected& other) {
  for (auto part :
       {&Results<double>::dq, &Results<double>::dk, &Results<double>::dv, &Results<double>::delta})
    std::ranges::transform(expected.bound.*part, other.bound.*part, (expected.bound.*part).begin(),
                           std::ranges::max);
  return expected;
}

Answer require_right(Probe& probe, const Problem& problem, const CallOptions& options) {
  Answer got = ask(probe, problem, options);
  require_close(probe, problem, got, expect(problem));
  return got;
}

void require_close(Probe& probe, const Problem& problem, const Answer& got,
                   const Expected& expected) {
  for_each_result(problem, [&](auto part, auto wanted, const kit::IndexNamer& name) {
    if ((got.*part).empty()) return;
    const std::vector<double> allowed = allowed_for(expected.bound.*wanted);
    if (const auto miss = kit::worst_miss(got.*part, expected.value.*wanted, allowed, name))
      probe.fail(*miss, {kit::describe(problem.form)});
    kit::note_share(probe, kit::worst_ratio(got.*part, expected.value.*wanted, allowed, 1));
  });
}

void require_equal(Probe& probe, const Problem& problem, const Answer& got, const Answer& want) {
  for_each_result(problem, [&](auto part, auto, const kit::IndexNamer& name) {
    probe.require(kit::first_difference(got.*part, want.*part, name));
  });
}

void Sum::add(double term) {
  value += term;
  size += std::abs(term);
}

Sum inner_product(std::span<const float> a, std::span<const float> b) {
  Sum sum;
  for (std::size_t n = 0; n < a.size(); ++n) sum.add(static_cast<double>(a[n]) * b[n]);
  return sum;
}

std::optional<Miss> unequal_sums(const std::string& name, const Sum& got, const Sum& want) {
  const double allowed = kIdentity * (got.size + want.size);
  if (kit::within(want.value, got.value, allowed)) return std::nullopt;
  return Miss{name, got.value, want.value, allowed};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
