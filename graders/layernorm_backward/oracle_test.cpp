// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <cmath>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "fixtures/gradients_fixture.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

Rows rows_from(const std::vector<double>& values, std::int64_t rows, std::int64_t cols) {
  Rows made(rows, cols, cols, 0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      made.row(i)[static_cast<std::size_t>(j)] =
          static_cast<float>(values[static_cast<std::size_t>(i * cols + j)]);
  return made;
}

Problem problem_from(const GradientFixture& fixture) {
  Problem made;
  made.rows = fixture.rows;
  made.cols = fixture.cols;
  made.eps = fixture.eps;
  made.x = rows_from(fixture.x, fixture.rows, fixture.cols);
  made.dy = rows_from(fixture.dy, fixture.rows, fixture.cols);
  made.gamma.assign(fixture.gamma.begin(), fixture.gamma.end());
  made.beta.assign(fixture.beta.begin(), fixture.beta.end());
  return made;
}

// The float64 oracle loses some digits to the offset of a row; 1e-10 leaves it those and no more.
void check_close(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    CHECK(got[k] == doctest::Approx(want[k]).epsilon(1e-10));
}

/// Forward in float64 on float64 inputs, for differences that float could not carry.
double loss(const Problem& problem, const std::vector<double>& x,
            const std::vector<double>& gamma) {
  const auto cols = static_cast<std::size_t>(problem.cols);
  double total = 0;
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const double* row = x.data() + i * problem.cols;
    double mean = 0;
    for (std::size_t j = 0; j < cols; ++j) mean += row[j] / static_cast<double>(cols);
    double variance = 0;
    for (std::size_t j = 0; j < cols; ++j)
      variance += (row[j] - mean) * (row[j] - mean) / static_cast<double>(cols);
    for (std::size_t j = 0; j < cols; ++j)
      total +=
          problem.dy.row(i)[j] * gamma[j] * (row[j] - mean) / std::sqrt(variance + problem.eps);
  }
  return total;
}

double difference(const Problem& problem, std::vector<double>& x, std::vector<double>& gamma,
                  double& value) {
  const double keep = value;
  const double step = 1e-5;
  value = keep + step;
  const double above = loss(problem, x, gamma);
  value = keep - step;
  const double below = loss(problem, x, gamma);
  value = keep;
  return (above - below) / (2 * step);
}

std::vector<double> elements(const Problem& problem) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < problem.rows; ++i)
    for (const float value : problem.x.row(i)) all.push_back(value);
  return all;
}

/// Row i of dx in float, the variance by `variance_of`.
template <class Variance>
std::vector<float> float_dx(const Problem& problem, const Variance& variance_of) {
  std::vector<float> dx;
  const auto cols = static_cast<float>(problem.cols);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto x = problem.x.row(i);
    const auto dy = problem.dy.row(i);
    float mean = 0;
    for (const float value : x) mean += value;
    mean /= cols;
    const float rstd = 1 / std::sqrt(variance_of(x, mean) + static_cast<float>(problem.eps));
    float a = 0;
    float b = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const float w = problem.gamma[j] * dy[j];
      a += w / cols;
      b += w * (x[j] - mean) * rstd / cols;
    }
    for (std::size_t j = 0; j < x.size(); ++j)
      dx.push_back(rstd * (problem.gamma[j] * dy[j] - a - (x[j] - mean) * rstd * b));
  }
  return dx;
}

double worst_share(const std::vector<float>& got, const Expected& expected) {
  double worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double share = std::abs(got[k] - expected.dx[k]) / expected.dx_allowed[k];
    worst = std::isnan(share) ? HUGE_VAL : std::max(worst, share);
  }
  return worst;
}

Problem offset_problem(double offset) {
  Rng rng(7);
  Spread spread;
  spread.x_mean = offset;
  return make_problem(rng, 8, 128, spread);
}

}  // namespace

TEST_CASE("the oracle agrees with 80-digit differences of the forward pass") {
  for (const GradientFixture& fixture : kGradientFixtures) {
    INFO(fixture.name);
    const Expected expected = expect(problem_from(fixture));
    check_close(expected.y, fixture.y);
    check_close(expected.dx, fixture.dx);
    check_close(expected.dgamma, fixture.dgamma);
    check_close(expected.dbeta, fixture.dbeta);
  }
}

TEST_CASE("the oracle agrees with finite differences of the forward pass") {
  Rng rng(1);
  const Problem problem = make_problem(rng, 3, 7);
  const Expected expected = expect(problem);
  std::vector<double> x = elements(problem);
  std::vector<double> gamma(problem.gamma.begin(), problem.gamma.end());
  for (std::size_t k = 0; k < x.size(); ++k)
    CHECK(expected.dx[k] == doctest::Approx(difference(problem, x, gamma, x[k])).epsilon(1e-6));
  for (std::size_t j = 0; j < gamma.size(); ++j)
    CHECK(expected.dgamma[j] ==
          doctest::Approx(difference(problem, x, gamma, gamma[j])).epsilon(1e-6));
}

// Given statistics have no forward pass that could be differentiated: the contract's formula is it.
TEST_CASE("given statistics enter the contract's formula as they are") {
  Rng rng(2);
  Problem problem = make_problem(rng, 4, 9);
  problem.mean = {0.5f, -2, 1, 0};
  problem.rstd = {1.5f, -0.25f, 0, 1};
  const Expected expected = expect(problem);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    long double a = 0;
    long double b = 0;
    const auto xhat = [&](std::size_t j) {
      return (static_cast<long double>(problem.x.row(i)[j]) - problem.mean[row]) *
             problem.rstd[row];
    };
    for (std::size_t j = 0; j < 9; ++j) {
      a += static_cast<long double>(problem.gamma[j]) * problem.dy.row(i)[j] / 9;
      b += static_cast<long double>(problem.gamma[j]) * problem.dy.row(i)[j] * xhat(j) / 9;
    }
    for (std::size_t j = 0; j < 9; ++j) {
      const long double w = static_cast<long double>(problem.gamma[j]) * problem.dy.row(i)[j];
      const auto want = static_cast<double>(problem.rstd[row] * (w - a - xhat(j) * b));
      CHECK(expected.dx[row * 9 + j] == doctest::Approx(want).epsilon(1e-12));
      CHECK(expected.dx_allowed[row * 9 + j] > 0);
    }
  }
}

TEST_CASE("the bound admits float sums far from zero and refuses subtracted squares there") {
  const auto two_pass = [](std::span<const float> x, float mean) {
    float squares = 0;
    for (const float value : x) squares += (value - mean) * (value - mean);
    return squares / static_cast<float>(x.size());
  };
  const auto subtracted = [](std::span<const float> x, float mean) {
    float squares = 0;
    for (const float value : x) squares += value * value;
    return std::max(0.0f, squares / static_cast<float>(x.size()) - mean * mean);
  };
  for (const double offset : {1e3, 1e4}) {
    const Problem problem = offset_problem(offset);
    const Expected expected = expect(problem);
    CHECK(worst_share(float_dx(problem, two_pass), expected) < 0.5);
    CHECK(worst_share(float_dx(problem, subtracted), expected) > 2);
  }
}
