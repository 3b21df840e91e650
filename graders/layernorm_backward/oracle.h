#pragma once

#include <cstdint>
#include <vector>

#include "cases.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The right answer in float64 and how far from it float32 arithmetic may end up, element by
/// element. Row-major without gaps.
///
/// Derivation. u = 2^-24. The roundings of a float sum of n terms of one sign are independent of
/// each other, each at most u times the running sum: together they have a standard deviation of
/// about sqrt(n)/4 u of the sum of magnitudes (Higham and Mary 2019 for the model; worst case (n -
/// 1) u), and less for a tree or a vector of sums. C = 16 + 1.5 sqrt(n) is six deviations of one
/// long chain and 16 more for the handful of operations around it; n = cols where nothing else is
/// said.
///  1. Rounding alone. dx = r (w - a - xhat b), a = mean(w), b = mean(w xhat), loses C u of
///       core = r (|w| + mean|w| + |xhat| mean|w xhat|).
///  2. The mean is off by up to C u mean|x|, which moves every xhat of the row by e = C u kappa,
///     kappa = r mean|x|. To first order dx moves by r e (b + xhat a): at most C u times
///       shift = kappa r (mean|w xhat| + |xhat| mean|w|).
///  3. A one-pass variance (Welford) is off by C u kappa, relatively (Chan, Golub, LeVeque 1983),
///  and
///     with it r and xhat: kappa core, times C u. (Two passes only lose the square of it.)
/// Together |error of dx| <= C u (core + kappa core + shift). The textbook's E[x^2] - E[x]^2 loses
/// C u kappa^2 and does not fit. Likewise, element by element,
///   y       C u (|gamma| (|xhat| (1 + kappa) + kappa) + |beta|)
///   dgamma  (C + 1.5 sqrt(rows)) u sum_i |dy| (|xhat| (1 + kappa) + kappa)
///   dbeta   (16 + 1.5 sqrt(rows)) u sum_i |dy|
/// and everything has 2^-126 on top, for those who flush subnormal numbers. With given statistics
/// kappa counts what x * rstd - mean * rstd would lose: r max(mean|x|, |mean|).
///
/// Calibration: the honest variants and the reference, 1,000 seeds each for every check of small
/// cases and 100 for those of large ones, were never rejected and used at most 0.51 of these
/// tolerances (a float chain behind an outlier); 0.44 in sums over 131,072 rows, 0.39 in
/// all_gradients, 0.31 on the offset ladder. Every check records its share as a fact; `gauntlet
/// audit --seeds 1000` runs them.
struct Expected {
  std::vector<double> y, dx, dgamma, dbeta;
  std::vector<double> y_allowed, dx_allowed, dgamma_allowed, dbeta_allowed;
  std::vector<double> dx_core;  // item 1: what remains when the mean is kept to more than float
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

/// C above.
double sum_slack(std::int64_t terms);

/// What stands before u in the bound of dgamma.
double parameter_slack(const Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
