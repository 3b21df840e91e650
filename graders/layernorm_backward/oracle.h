// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The right answer in float64 and how far from it float32 arithmetic may end up, element by
/// element. Row-major without gaps.
///
/// A bound is kUnitRoundoff * sum_slack(terms) * the sum of the magnitudes that enter the element;
/// README.md derives the three parts of it that the code calls core, kappa and shift.
struct Expected {
  std::vector<double> y, dx, dgamma, dbeta;
  std::vector<double> y_allowed, dx_allowed, dgamma_allowed, dbeta_allowed;
  std::vector<double> dx_core;  // what is left of dx's bound if the mean is kept to more than float
};

/// With given statistics these are taken as they are, promoted to float64.
Expected expect(const Problem& problem);

/// What one row of the oracle knows besides its elements.
struct RowFacts {
  double mean = 0;
  double rstd = 0;
  double w_xhat_sum = 0;  // sum_j w xhat
};
std::vector<RowFacts> row_facts(const Problem& problem);

constexpr double kUnitRoundoff = 0x1p-24;
constexpr double kSmallest = 0x1p-126;

/// C of README.md: what a chain of float additions loses, in units of roundoff.
double sum_slack(std::int64_t terms);

/// Makes tolerances of the sums of magnitudes that stand in the fields of dgamma and dbeta.
void scale_parameter_bounds(const Problem& problem, Expected& made);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
