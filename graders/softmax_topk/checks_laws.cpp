// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr double kClose = 1e-4;  // relative; two answers to one question may differ in rounding

void require_same_probs(Probe& probe, const char* name, std::span<const float> got,
                        std::span<const float> want) {
  std::vector<double> wanted(want.begin(), want.end());
  std::vector<double> allowed(wanted);
  for (double& a : allowed) a = kClose * a + kSmallest;
  probe.require(kit::worst_miss(got, wanted, allowed, kit::index_namer(name, {std::ssize(got)})));
}

/// The same for lse and row_max, which may be near zero.
void require_same_totals(Probe& probe, const char* name, std::span<const float> got,
                         std::span<const float> want) {
  std::vector<double> wanted(want.begin(), want.end());
  std::vector<double> allowed(wanted);
  for (double& a : allowed) a = kClose * (1 + std::abs(a));
  probe.require(kit::worst_miss(got, wanted, allowed, kit::index_namer(name, {std::ssize(got)})));
}

void require_different(Probe& probe, std::vector<std::int32_t> indices) {
  std::sort(indices.begin(), indices.end());
  const auto twice = std::adjacent_find(indices.begin(), indices.end());
  if (twice != indices.end()) probe.fail(fmt::format("entry {} wins twice", *twice));
}

/// A permutation of the columns that takes the winners to entries of one thread, as far as it has
/// any, and everything else anywhere.
std::vector<std::int64_t> gathering(Rng& rng, std::int64_t vocab,
                                    const std::vector<std::int32_t>& winners) {
  const Dealing dealing{std::int64_t{128} << rng.integer(0, 3), 1};
  const auto places = dealing.places_of_one(rng, vocab, std::ssize(winners));
  std::vector<std::int64_t> to = kit::random_order(rng, vocab);
  for (std::size_t n = 0; n < places.size(); ++n) {
    const auto here = static_cast<std::size_t>(winners[n]);
    std::swap(to[here], *std::find(to.begin(), to.end(), places[n]));
  }
  return to;
}

// Distinct values, so that the order of the columns decides nothing.
void permuted_columns(Probe& probe) {
  for (const std::int64_t vocab : {60, 2500, 20'000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem = blank_problem(1, near_to(rng, vocab), near_to(rng, 25));
    const auto heights = random_places(rng, problem.vocab, problem.vocab);
    for (std::size_t j = 0; j < heights.size(); ++j)
      problem.row(0)[j] = static_cast<float>(heights[j]) * 8 / static_cast<float>(vocab);
    const Answer before = ask(probe, problem);
    for (const std::int32_t index : before.indices)
      probe.require(index >= 0 && index < problem.vocab, "an index is outside of the row");

    const auto to = gathering(rng, problem.vocab, before.indices);
    Problem permuted = problem;
    for (std::size_t j = 0; j < to.size(); ++j)
      permuted.row(0)[static_cast<std::size_t>(to[j])] = problem.row(0)[j];
    const Answer after = ask(probe, permuted);

    std::vector<std::int32_t> wanted;
    for (const std::int32_t index : before.indices)
      wanted.push_back(static_cast<std::int32_t>(to[static_cast<std::size_t>(index)]));
    probe.require(
        kit::first_difference(std::span<const std::int32_t>(after.indices), wanted,
                              kit::index_namer("indices of the permuted row", {problem.k})));
    require_same_probs(probe, "probs of the permuted row", after.probs, before.probs);
  }
}

void prefixes(Probe& probe) {
  for (const std::int64_t vocab : {300, 7000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem = make_problem(rng, 1, near_to(rng, vocab), 1);
    problem.options.lse = false;
    if (rng.chance(0.5))
      for (float& z : problem.row(0)) z = static_cast<float>(static_cast<int>(z * 4)) / 4;
    problem.k = problem.vocab - rng.integer(0, 3);
    const Answer longest = ask(probe, problem);
    require_different(probe, longest.indices);
    for (const std::int64_t k : {1, 2, 33, 100, 200}) {
      problem.k = near_to(rng, k);
      const Answer shorter = ask(probe, problem);
      const auto count = static_cast<std::size_t>(problem.k);
      probe.require(kit::first_difference(
          std::span<const std::int32_t>(shorter.indices), std::span(longest.indices).first(count),
          kit::index_namer(fmt::format("indices for k = {}", count), {problem.k})));
      require_same_probs(probe, "probs for a smaller k", shorter.probs,
                         std::span(longest.probs).first(count));
    }
  }
}

// Only scale * z enters the numbers, and a power of two that goes over from one to the other leaves
// every product as it was: the truth is the same, and two answers are at most two tolerances apart.
// The exponents leave room for those who subtract before they scale, and for those who flush
// differences below 2^-126 to zero: of a product, these are 2^-30 at most.
//
// kClose is wider than two tolerances (README.md). Noise of deviation 3 lies within 9 of zero and
// the scale is below 1: p is off by 16 (2 + 18 + 2.5) + 2 * 18 + 8 sqrt(1000) units of 2^-24 at
// most, which is 8e-5 for two answers, and lse by 16 + 8 sqrt(1000) of 1 + abs(lse): 4e-5.
void scaled_units(Probe& probe) {
  for (const int exponent : {-96, -40, -20, 20, 40, 96}) {
    Rng rng = probe.begin_case(fmt::format("scale_times_2^{}", exponent));
    Problem problem = make_problem(rng, rng.integer(2, 5), rng.integer(300, 999), near_to(rng, 30));
    problem.scale = static_cast<float>(rng.uniform(0.5, 1));
    const Answer before = ask(probe, problem);
    change_units(problem, exponent);
    const Answer after = ask(probe, problem);
    probe.require(kit::first_difference(
        std::span<const std::int32_t>(after.indices), before.indices,
        kit::index_namer("indices in other units", {problem.rows, problem.k})));
    require_same_probs(probe, "probs in other units", after.probs, before.probs);
    require_same_totals(probe, "lse in other units", after.lse, before.lse);
    require_same_totals(probe, "row_max in other units", after.row_max, before.row_max);
  }
}

}  // namespace

std::vector<Check> laws_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"permuted_columns", "an answer that depends on the place of the winners", correctness, 1,
        major},
       permuted_columns},
      {{"scaled_units", "scales far from one, and logits as far on the other side", correctness, 1,
        major},
       scaled_units},
      {{"prefixes", "a choice that changes with k", correctness, 1, major}, prefixes},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
