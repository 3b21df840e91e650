// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/inputs.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::kInfinity;

/// Stairs of one to five entries, `step` up or down each: the running maximum moves all the time.
void fill_stairs(Rng& rng, std::span<float> row, double from, double to) {
  const double slope = (to - from) / static_cast<double>(row.size());
  for (std::size_t j = 0; j < row.size();) {
    const auto end = std::min(row.size(), j + static_cast<std::size_t>(rng.integer(1, 5)));
    const auto height = static_cast<float>(from + slope * static_cast<double>(j));
    for (; j < end; ++j) row[j] = height;
  }
}

// Entries are multiples of 2^-8, so that they and the offsets add up exactly: nothing but the
// offset tells the rows apart. The last row has one entry that dwarfs the others.
void shift_invariance(Probe& probe) {
  constexpr double kOffsets[] = {0, 80, -80, 100, -110, 500, 1e4, -1e4, 3e4, -3e4};
  for (const std::int64_t vocab : {100, 3000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem =
        make_problem(rng, std::size(kOffsets) + 1, vocab + rng.integer(-9, 9), near_to(rng, 20));
    std::vector<double> base(problem.width());
    for (double& z : base) z = static_cast<double>(rng.integer(-2048, 2048)) * 0x1p-8;
    for (std::size_t n = 0; n < std::size(kOffsets); ++n)
      std::ranges::transform(base, problem.row(static_cast<std::int64_t>(n)).begin(),
                             [&](double z) { return static_cast<float>(z + kOffsets[n]); });
    const auto last = problem.row(problem.rows - 1);
    std::ranges::copy(problem.row(0), last.begin());
    last[static_cast<std::size_t>(rng.integer(0, problem.vocab - 1))] = 1e30f;
    require_right(probe, problem);
  }
}

// Both directions, because a loop may walk the row either way, and rises beyond the 88 that exp can
// take, because a reference that never moves survives everything below. The last row rises from
// nothing.
void late_maximum(Probe& probe) {
  for (const std::int64_t vocab : {300, 5000, 40'000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem = make_problem(rng, 10, vocab + rng.integer(-9, 9), near_to(rng, 16), {0, 1});
    const auto at = [&](std::int64_t row, double where) -> float& {
      const double place = where * static_cast<double>(problem.vocab - 1);
      return problem.row(row)[static_cast<std::size_t>(place)];
    };
    at(0, 0) = 12;
    at(1, 1) = 12;
    at(2, rng.uniform(0.3, 0.7)) = 12;
    fill_stairs(rng, problem.row(3), 0, 12);
    fill_stairs(rng, problem.row(4), 12, 0);
    fill_stairs(rng, problem.row(5), -100, 150);
    fill_stairs(rng, problem.row(6), 150, -100);
    for (int n = 0; n <= 64; ++n) at(7, n / 64.0) += static_cast<float>(n) * 0.2f;
    for (int n = 0; n <= 64; ++n) at(8, 1 - n / 64.0) += static_cast<float>(n) * 0.2f;
    std::ranges::fill(problem.row(9).first(problem.width() - 250), -kInfinity);
    require_right(probe, problem, Sums::any);
  }
}

// p = 1 / len when nothing stands out, whatever k is: the k probabilities do not add up to one. In
// the last rows each exponential is a number and their sum is none, in float and in float64: where
// a shift is left out because a maximum seems low enough.
void flat_rows(Probe& probe) {
  for (const std::int64_t vocab : {1000, 50'257, 1'000'000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    const bool moderate = vocab < 100'000;
    Problem problem = blank_problem(moderate ? 4 : 2, near_to(rng, vocab), rng.integer(20, 200));
    if (vocab < 2000) problem.k = problem.vocab / 2;
    for (std::int64_t i = 2; i < problem.rows; ++i) {
      const double largest = i == 2 ? 88.7228 : 709.7827;  // whose exponential is a number
      const double height = largest - std::log(static_cast<double>(problem.vocab));
      std::ranges::fill(problem.row(i), static_cast<float>(height + rng.uniform(0.05, 0.2)));
    }
    std::ranges::fill(problem.row(0), static_cast<float>(rng.uniform(-3, 3)));
    fill_noise(rng, problem.row(1), {rng.uniform(-3, 3), 0.01});
    require_right(probe, problem, Sums::any);
  }
}

// Then the largest exponential is a number even without a shift, and those of most winners are 0 in
// float, or in float64 have few digits left. In the last rows winners lie on both sides of where
// exponentials of float, or of float64, are no normal numbers any more, and of where they are 0.
void underflow(Probe& probe) {
  for (const std::int64_t vocab : {50, 2000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem = make_problem(rng, 8, near_to(rng, vocab), 48, {0, 40});
    constexpr double kMost[] = {0, 0, -200, -105, -740};
    constexpr float kAbove[] = {50, 200, 200, 20, 60};
    for (std::size_t i = 0; i < std::size(kMost); ++i) {
      const auto row = problem.row(static_cast<std::int64_t>(i));
      fill_noise(rng, row, {kMost[i], 0.5});
      row[static_cast<std::size_t>(rng.integer(0, problem.vocab - 1))] += kAbove[i];
    }
    constexpr double kEnds[] = {96, 727};
    for (const std::int64_t i : {6, 7}) {
      const auto row = problem.row(i);
      for (float& z : row) z = static_cast<float>(-kEnds[i - 6] - rng.uniform(-20, 20));
      std::ranges::fill(row.subspan(49), -1000.0f);
      row.front() = 0;
    }
    require_right(probe, problem);
  }
  // So many that together they count, each of which would not, in any block behind the maximum's.
  Rng rng = probe.begin_case("near_250000_entries");
  Problem problem = make_problem(rng, 2, 250'000 + rng.integer(-99, 99), near_to(rng, 10));
  for (const std::int64_t i : {0, 1}) {
    fill_noise(rng, problem.row(i), {i == 0 ? -20.6 : -22.5, 0.1});
    problem.row(i)[static_cast<std::size_t>(rng.integer(0, 99))] = 0;
  }
  require_right(probe, problem, Sums::careful);
  // So many that each is 2e-12 of the row.
  rng = probe.begin_case("near_1000000_entries");
  problem = make_problem(rng, 1, 1'000'000 + rng.integer(-99, 99), near_to(rng, 10), {-26.9, 0.1});
  problem.row(0)[static_cast<std::size_t>(rng.integer(0, 99))] = 0;
  require_right(probe, problem, Sums::careful);
}

// The last row's winners are neighbours in the order of floats, and not all of them when scaled.
// Two scales are so near to one that little but row_max tells; with the last two, which are far
// from one, the logits are as far on the other side.
void temperature(Probe& probe) {
  struct Temperature {
    float scale;
    int exponent;
  };
  for (const auto [scale, exponent] : {Temperature{0.01f, 0},
                                       {0.7f, 0},
                                       {2.0f, 0},
                                       {100.0f, 0},
                                       {1 - 0x1p-20f, 0},
                                       {1 + 0x1p-17f, 0},
                                       {0.7f, -96},
                                       {0.7f, 96}}) {
    Rng rng = probe.begin_case(exponent == 0 ? fmt::format("scale_{}", scale)
                                             : fmt::format("scale_{}_times_2^{}", scale, exponent));
    Problem problem = make_problem(rng, 4, rng.integer(900, 6000), near_to(rng, 30));
    const bool near_one = std::abs(scale - 1) < 0.01f;
    problem.scale = near_one ? scale : scale * static_cast<float>(rng.uniform(0.9, 1.1));
    std::ranges::fill(problem.row(2), 0.0f);
    plant_neighbours(rng, problem.row(2), kBelowTwo);
    std::ranges::fill(problem.row(3), 0.0f);
    if (!near_one && scale != 2) plant_scaled_ties(rng, problem.row(3), problem.k, problem.scale);
    change_units(problem, exponent);
    // One winner, and a few, by other ways than many.
    for (const std::int64_t k : {problem.k, rng.integer(2, 8), std::int64_t{1}}) {
      problem.k = k;
      require_right(probe, problem);
    }
  }
}

/// Winners so close to each other that the ratio of neighbours, at most 2.6e-8 below one, is one as
/// a float: all of them together are not.
void ask_close_winners(Probe& probe) {
  Rng rng = probe.begin_case("winners_close_to_each_other");
  Problem problem = blank_problem(2, near_to(rng, 3000), 3000);
  problem.k = problem.vocab;
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const double step = rng.uniform(1.8e-8, 2.6e-8);
    double height = 0;
    for (const std::int64_t at : kit::random_order(rng, problem.vocab))
      problem.row(i)[static_cast<std::size_t>(at)] = static_cast<float>(height -= step);
  }
  problem.row(1)[static_cast<std::size_t>(rng.integer(0, problem.vocab - 1))] = 3;
  require_right(probe, problem, Sums::careful);
}

// One float that takes all terms in turn drifts where the terms are equal: every one of its
// roundings has the same sign. In the last rows one entry hides what the others add up to, however
// far below it they are: together they count. The last row of all is so long that threads share it,
// and none of the parts without that entry comes near it.
void careful_sums(Probe& probe) {
  for (const std::int64_t vocab : {4000, 131'072, 400'000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem = make_problem(rng, 6, vocab + rng.integer(-9, 9), near_to(rng, 10), {0, 1});
    for (const std::int64_t i : {3, 4, 5}) {
      const double above = 14 + 3 * static_cast<double>(i - 3);
      problem.row(i)[static_cast<std::size_t>(rng.integer(0, problem.vocab - 1))] =
          static_cast<float>(rng.uniform(above, above + 3));
    }
    for (const std::int64_t i : {1, 2}) {
      std::ranges::fill(problem.row(i), static_cast<float>(rng.uniform(-1, 1)));
      const auto at = static_cast<std::size_t>(i == 1 ? 0 : rng.integer(0, problem.vocab - 1));
      problem.row(i)[at] += static_cast<float>(rng.uniform(0.2, 0.6));
    }
    require_right(probe, problem, Sums::careful);
  }
  ask_close_winners(probe);
  Rng rng = probe.begin_case("one_row");
  // Below what one by one would change a float of 1. With a maximum of 0 least is forgiven, and
  // so many are more than that even where each is less than 1e-11, or in most of the row 2e-12.
  const double below = rng.uniform(22.3, 26);
  Problem problem =
      make_problem(rng, 1, (1 << 22) + rng.integer(-9, 9), near_to(rng, 10), {-below, 0.1});
  problem.options.threads = static_cast<int>(rng.integer(2, 7));
  fill_noise(rng, problem.row(0).subspan(problem.width() / 3), {-27.3, 0.1});
  problem.row(0)[static_cast<std::size_t>(rng.integer(0, problem.vocab / 4))] = 0;
  require_right(probe, problem, Sums::careful);
}

}  // namespace

std::vector<Check> softmax_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"shift_invariance", "exponentials that overflow or underflow", correctness, 2, critical},
       shift_invariance},
      {{"late_maximum", "a running sum that is not rescaled, or the wrong way", correctness, 2,
        critical},
       late_maximum},
      {{"flat_rows", "probabilities divided by the sum of the winners; short sums", correctness, 2,
        critical},
       flat_rows},
      {{"temperature", "scale left out, applied twice or after the softmax", correctness, 1, major},
       temperature},
      {{"underflow", "probabilities far below the largest", correctness, 1, major}, underflow},
      {{"careful_sums", "digits lost in one long float sum", correctness, 1, minor}, careful_sums},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
