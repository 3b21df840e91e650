#pragma once

#include <cstdint>
#include <vector>

#include "cases.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// How much rounding in the sum of exponentials is forgiven, in units of u = 2^-24, relatively.
///
///   careful   nothing on top of the contract: float64 sums and pairwise or blocked float sums
///             reach it
///   plain     8 sqrt(len): one float accumulator over terms whose rounding errors have both signs;
///             they are independent of each other, sqrt(len) / 4 u together (Higham and Mary 2019),
///             and more where the terms are few values or in order
///   any       len: what a float sum in any order keeps (Higham 2002, 4.2), also over equal terms,
///             whose rounding errors all have one sign
///
/// Checks whose question is another one ask with `plain` or `any`, so that one fault is found once.
enum class Sums { careful, plain, any };

/// The right answer for some rows. Row r of indices and probs belongs to row which[r] of the
/// problem.
///
/// Derivation of the tolerances. exp(x) of a rounded x is off by |x| u at least, its own rounding
/// and the division add a few u, a pairwise sum log2(len) u: the contract's
///
///   |error of p|   <= 16 u p (2 + |scale z - row_max| + log2(len) / 4)
///   |error of lse| <= 16 u (1 + |lse|)
///
/// with the forgiven part of the sum on top, and where scale is not 1, 2 u (|scale z| + |row_max|)
/// for the rounded products. 2^-126 is added for those who flush subnormal numbers.
///
/// Calibration: the honest variants, the textbook and the reference used at most 0.41 of these
/// tolerances (scales near 100), 0.37 in sorted rows (a running sum that is rescaled all the time),
/// 0.16 in careful_sums and 0.14 everywhere else but in underflow (0.38), over 3 seeds; none was
/// rejected over 20. Every check records its share as a fact.
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
