// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// How much rounding in the sum of exponentials is forgiven on top of the contract; README.md
/// derives the sizes. Checks whose question is another one ask with `plain` or `any`, so that one
/// fault is found once.
enum class Sums {
  careful,   // nothing: float64 sums and pairwise or blocked float sums reach it
  rescaled,  // what a running sum loses that is rescaled at every new maximum
  plain,     // what one float accumulator loses over terms whose rounding errors have both signs
  any,       // what a float sum loses in any order, also over equal terms
};

/// The right answer for some rows. Row r of indices and probs belongs to row which[r] of the
/// problem.
struct Expected {
  std::vector<std::int64_t> which;
  std::vector<bool> spoiled;  // a row with NaN or +inf: only the shape of its indices is asked for
  std::vector<std::int32_t> indices;
  std::vector<double> probs, probs_allowed;
  std::vector<double> lse, lse_allowed;
  std::vector<double> row_max, row_max_allowed;
};

Expected expect(const Problem& problem, Sums sums);
Expected expect_rows(const Problem& problem, const std::vector<std::int64_t>& which, Sums sums);

/// The contract's part of these, in u: of a probability relative to it, and of lse.
double prob_units(double below_max, double len);
double lse_units(double lse);

constexpr double kUnitRoundoff = 0x1p-24;
constexpr double kSmallest = 0x1p-126;

}  // namespace gauntlet::GAUNTLET_CHALLENGE
