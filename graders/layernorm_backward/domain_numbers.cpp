// SPDX-License-Identifier: Apache-2.0
#include "domain_numbers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using kit::hiding;

// A float32 solution forms the products of the formulas one after the other: they stay below this,
// and above that where what is lost below it would be multiplied by a large rstd.
constexpr double kMostMagnitude = 1e36;
constexpr double kLeastMagnitude = 1e-33;

// What the contract itself wants representable: sums of squares of x, cols * w.
constexpr double kMostSum = 1e38;

// Of w that is the same in all of a row, w - a and the mean of w xhat are what is rounded off: some
// units of roundoff.
constexpr double kRoundedOff = 0x1p-20;

// Of all numbers below 2^-126 those that are still exact to 19 bits: what a product with them loses
// is no more than rounding loses elsewhere.
constexpr double kLeastSubnormal = 4e-39;
constexpr double kMostSubnormal = 4.5e-39;

constexpr double kMostConstant = 3;        // of a constant row
constexpr double kHugeConstants = 0x1p56;  // times that: 2e17
constexpr const char* kAlikeRows = "rows alike, near 1e18";
constexpr const char* kAlike = "alike, near 1e18";
constexpr const char* kBeyondFloat = "1e40 to 1e50";
constexpr const char* kCancels = "neighbours cancel";
constexpr const char* kHalvesApart = "halves apart";  // by that many deviations
constexpr const char* kHugeHalves = "huge halves apart";
constexpr double kHugeSquares = 4e37;  // the sum of squares of such a row, about

/// Whether all rows have no variance but eps.
bool all_rows_constant(const Assignment& choice) {
  return choice["cols"].most == 1 || choice.is("x", "constant rows") || choice.is("x", "zeros") ||
         choice.is("x", "constant rows, huge");
}

double largest_x(const Assignment& choice) {
  if (choice.is("x", "all magnitudes")) return 1e7;
  if (choice.is("x", "constant rows, huge")) return kMostConstant * kHugeConstants;
  return std::max(10.0, 6 * choice["x"].most);
}

/// Of a row. Normal numbers are never as large together as each of them may be.
double largest_sum_of_squares(const Assignment& choice) {
  const double cols = choice["cols"].most;
  if (choice.is("x", "huge"))
    return choice["x"].most * choice["x"].most * (cols + 9 * std::sqrt(cols) + 40);
  if (choice.is("x", kHugeHalves)) return 2 * kHugeSquares;
  return largest_x(choice) * largest_x(choice) * cols;
}

/// Of an element. What dy is multiplied with multiplies numbers of ordinary size.
double largest_dy(const Assignment& choice) {
  if (choice.is("dy", "usual") || choice.is("dy", kCancels)) return 10;
  if (choice.is("dy", "zeros")) return 0;
  if (choice.is("dy", "one element")) return 2;
  return choice["dy"].most * (choice.is("dy", kAlikeRows) ? 1 : 6);
}

/// Infinity where a row has none.
double largest_rstd(const Assignment& choice) {
  if (choice["statistics"].most > 0) return choice["statistics"].most;
  if (statistics_given(choice) && !choice.is("statistics", "given, true")) return 2;
  const double by_eps = 1 / std::sqrt(choice["eps"].least);
  if (all_rows_constant(choice) || choice.is("x", "a constant row") ||
      choice.is("x", "a row of zeros"))
    return by_eps;
  const bool scaled =
      choice.is("x", "tiny") || choice.is("x", "huge") || choice.is("x", kHugeHalves);
  const double by_x = scaled ? 2 / choice["x"].least : 1e3;
  return std::min(by_eps, by_x);
}

/// x - mean = deviation times the noise. Two elements of each row lie apart: a variance that comes
/// out as next to nothing by chance leaves no bound of first order.
void spread_x(const Assignment& choice, Rng& rng, Problem& problem) {
  constexpr double kMostX = 1e18;  // by the contract
  const bool every = choice.is("x", "all magnitudes");
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto row = problem.x.row(i);
    const double size = every ? log_uniform(rng, 1e-2, 1e6)
                        : choice.is("x", "tiny") || choice.is("x", "huge")
                            ? choice.draw_real(rng, "x")
                            : 1;
    const double mean = choice.is("x", "far from zero") ? choice.draw_real(rng, "x") : 0;
    if (row.size() > 1) {
      row[0] = static_cast<float>(-rng.uniform(0.7, 1.4));
      row[1] = static_cast<float>(rng.uniform(0.7, 1.4));
    }
    for (float& value : row)
      value = static_cast<float>(std::clamp(mean + size * value, -kMostX, kMostX));
    // Products of their distance and of their lengths would be beyond all floats.
    if (choice.is("x", kHugeHalves)) {
      const auto size = static_cast<float>(
          std::min(kMostX / 2, std::sqrt(kHugeSquares / static_cast<double>(row.size()))));
      for (std::size_t j = 0; j < row.size(); ++j)
        row[j] = size * ((j < row.size() / 2 ? 1.0F : -1.0F) + row[j] / 16);
    }
    if (choice.is("x", kHalvesApart)) {
      const auto apart = static_cast<float>(choice.draw_real(rng, "x"));
      for (float& value : row.first(row.size() / 2)) value += apart;
    }
  }
}

/// Of few digits, so that its sum is exact: equal terms round the same way every time.
void make_constant(Rng& rng, std::span<float> row, double unit) {
  const double value = std::round(rng.uniform(-kMostConstant, kMostConstant) * 1024) / 1024;
  std::ranges::fill(row, static_cast<float>(value * unit));
}

void put_x(const Assignment& choice, Rng& rng, Problem& problem) {
  spread_x(choice, rng, problem);
  const bool huge = choice.is("x", "constant rows, huge");
  const bool all = huge || choice.is("x", "constant rows") || choice.is("x", "zeros");
  const bool one = choice.is("x", "a constant row") || choice.is("x", "a row of zeros");
  const bool zero = choice.is("x", "zeros") || choice.is("x", "a row of zeros");
  const std::int64_t only = index_at(rng, kit::one_of(rng, {"first", "last", "random"}),
                                     std::max<std::int64_t>(1, problem.rows));
  for (std::int64_t i = 0; i < problem.rows; ++i)
    if (all || (one && i == only))
      make_constant(rng, problem.x.row(i), zero ? 0 : huge ? kHugeConstants : 1);
}

void put_dy(const Assignment& choice, Rng& rng, Problem& problem) {
  if (choice.is("dy", "usual") || choice.is("dy", kCancels)) return;
  const bool scaled = choice["dy"].most > 0;
  const std::int64_t row = rng.integer(0, std::max<std::int64_t>(0, problem.rows - 1));
  const std::int64_t column = rng.integer(0, problem.cols - 1);
  const auto factor = static_cast<float>(scaled ? choice.draw_real(rng, "dy") : 0);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    for (float& value : problem.dy.row(i)) value *= factor;
    if (choice.is("dy", kAlikeRows)) std::ranges::fill(problem.dy.row(i), near_1e18(rng));
    if (choice.is("dy", "one element") && i == row)
      problem.dy.row(i)[static_cast<std::size_t>(column)] = static_cast<float>(rng.uniform(1, 2));
  }
}

/// One of the first, so that there are others behind it.
void put_bad_row(const Assignment& choice, Rng& rng, Problem& problem) {
  if (choice.is("a row of them", "as others")) return;
  const std::int64_t row = rng.integer(0, problem.rows / 3);
  const auto column = static_cast<std::size_t>(rng.integer(0, problem.cols - 1));
  const bool infinite = choice.is("a row of them", "infinity");
  const float sign = rng.chance(0.5) ? 1.0f : -1.0f;
  (rng.chance(0.5) ? problem.x : problem.dy).row(row)[column] =
      infinite ? sign * kit::kInfinity : kit::kNan;
  problem.bad_rows = {row};
}

void put_parameters(const Assignment& choice, Rng& rng, Problem& problem) {
  if (choice.is("gamma", kAlike))
    std::ranges::fill(problem.gamma, near_1e18(rng));
  else if (choice["gamma"].most > 0)
    for (float& gamma : problem.gamma) gamma *= static_cast<float>(choice.draw_real(rng, "gamma"));
  if (choice.is("gamma", "with zeros"))
    for (float& gamma : problem.gamma)
      if (rng.chance(0.4)) gamma = rng.chance(0.5) ? 0.0f : -0.0f;
  if (choice.is("gamma", "ones at both ends")) problem.gamma.front() = problem.gamma.back() = 1;
  if (choice.is("gamma", "absent")) problem.gamma.clear();
  if (choice.is("beta", "1e18"))
    for (float& beta : problem.beta) beta = rng.chance(0.5) ? 1e18f : -1e18f;
  if (choice.is("beta", "absent")) problem.beta.clear();
}

/// Neighbours have x and gamma in common and opposite dy: the sums of w and of w xhat are exactly
/// 0, in whatever pairs, lanes or chains they are added up, and dx is rstd w. Who is left over has
/// no gradient.
void let_neighbours_cancel(Problem& problem) {
  const auto cols = static_cast<std::size_t>(problem.cols);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto x = problem.x.row(i);
    const auto dy = problem.dy.row(i);
    std::swap(x[1], x[2]);  // the first two lie apart, and are to be of two pairs
    for (std::size_t j = 0; j + 1 < cols; j += 2) {
      x[j + 1] = x[j];
      dy[j + 1] = -dy[j];
    }
    if (cols % 2 == 1) dy.back() = 0;
  }
  for (std::size_t j = 0; j + 1 < problem.gamma.size(); j += 2)
    problem.gamma[j + 1] = problem.gamma[j];
}

void put_statistics(const Assignment& choice, Rng& rng, Problem& problem) {
  if (!statistics_given(choice)) return;
  if (choice.is("statistics", "given, true")) return give_true_statistics(problem);
  give_drawn_statistics(rng, problem);
  for (float& rstd : problem.rstd) {
    if (choice.is("statistics", "given, negative rstd")) rstd = -rstd;
    if (choice.is("statistics", "given, rstd 0")) rstd = 0;
    if (choice["statistics"].most > 0)
      rstd = static_cast<float>(choice.draw_real(rng, "statistics"));
  }
  if (choice.is("statistics", "given, mean 0")) std::ranges::fill(problem.mean, 0.0f);
}

}  // namespace

std::vector<kit::Argument> number_arguments() {
  const auto given = [](kit::ValueClass statistics) {
    return hiding(std::move(statistics), {"eps", "passes"});
  };
  return {{"eps",
           {{"usual", 1e-6, 1e-4},
            {"0"},
            {"-0"},
            {"infinity", kit::kInfinity, kit::kInfinity},  // neither negative nor NaN: rstd is 0
            {"1e-50", 1e-50, 1e-50},
            {"1e-30 to 1e-12", 1e-30, 1e-12},
            {"1e-12 to 1e-9", 1e-12, 1e-9},
            {"0.1 to 10", 0.1, 10},
            {kBeyondFloat, 1e40, 1e50},  // beyond float, where rstd is not below it
            {"1e300", 1e300, 1e300}}},
          {"statistics",
           {{"own"},
            given({"given, true"}),
            given({"given, drawn"}),
            given({"given, negative rstd"}),
            given({"given, tiny rstd", 1e-30, 1e-20}),
            given({"given, large rstd", 1e3, 1e4}),
            given({"given, mean 0"}),
            given({"given, rstd 0"})}},
          {"x",
           {{"usual"},
            hiding({"constant rows"}),
            hiding({"constant rows, huge"}),
            hiding({"zeros"}),
            {"a constant row"},
            {"a row of zeros"},
            {"far from zero", 100, 500},
            {kHalvesApart, 3, 30},
            {kHugeHalves, 1e16, 1e18},
            {"tiny", 1e-17, 1e-16},
            {"huge", 1e17, 3e17},
            {"all magnitudes"}}},
          {"dy",
           {{"usual"},
            hiding({"zeros"}),
            {"one element"},
            {kCancels},
            {"1e15 to 1e17", 1e15, 1e17},
            {"1e-30 to 1e-20", 1e-30, 1e-20},
            {"subnormal", kLeastSubnormal, kMostSubnormal},
            {kAlikeRows, 5e17, 1e18}}},
          {"gamma",
           {{"usual"},
            {"absent"},
            {"with zeros"},
            {"ones at both ends"},
            {"1e15 to 1e16", 1e15, 1e16},
            {"1e-20 to 1e-10", 1e-20, 1e-10},
            {"subnormal", kLeastSubnormal, kMostSubnormal},
            {kAlike, 5e17, 1e18}}},
          {"beta", {{"usual"}, {"absent"}, {"1e18", 1e18, 1e18}}}};
}

bool numbers_representable(const Assignment& choice) {
  const double cols = choice["cols"].most;
  const double rstd = largest_rstd(choice);
  const bool of_x = !statistics_given(choice) || choice.is("statistics", "given, true");
  const double xhat = !of_x                       ? largest_x(choice) * rstd
                      : all_rows_constant(choice) ? 0
                                                  : std::sqrt(cols);
  const bool alike = of_x && choice.is("dy", kAlikeRows) &&
                     (choice.is("gamma", kAlike) || choice.is("gamma", "absent"));
  const double dy = largest_dy(choice);
  const double w = (choice.is("gamma", "absent") ? 1 : std::max(2.5, choice["gamma"].most)) * dy;
  const double sum = std::max(cols * w, choice["rows"].most * dy) * std::max(1.0, xhat);
  const double least_w = (choice["gamma"].most > 0 ? choice["gamma"].least : 0.1) *
                         (choice["dy"].most > 0 ? choice["dy"].least : 0.1);
  if (least_w < kLeastMagnitude && rstd > 1) return false;
  // Nor may xhat be below it where gamma and dy are not.
  if (choice.is("eps", kBeyondFloat) && choice.is("x", "tiny")) return false;
  const double most = alike ? kMostSum : kMostMagnitude;
  return largest_sum_of_squares(choice) < kMostSum && sum * std::max(1.0, xhat) < most &&
         sum * std::max(1.0, xhat) * rstd * (alike ? kRoundedOff : 1) < most;
}

bool statistics_given(const Assignment& choice) {
  return !choice.is("statistics", "own");
}

void put_numbers(const Assignment& choice, Rng& rng, Problem& problem) {
  problem.eps = choice.is("eps", "-0") ? -0.0 : choice.draw_real(rng, "eps");
  put_x(choice, rng, problem);
  put_dy(choice, rng, problem);
  put_parameters(choice, rng, problem);
  if (choice.is("dy", kCancels)) let_neighbours_cancel(problem);
  put_statistics(choice, rng, problem);
  put_bad_row(choice, rng, problem);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
