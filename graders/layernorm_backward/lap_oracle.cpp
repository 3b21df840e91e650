#include "lap_oracle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "graders/kit/compare.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Sums of several quantities over a row, in eight interleaved parts each: without them a sum is
/// one chain of additions, which no vector unit can take. `terms(j)` returns one value per
/// quantity.
template <std::size_t kQuantities, class Terms>
std::array<double, kQuantities> row_sums(std::int64_t cols, const Terms& terms) {
  constexpr std::int64_t kParts = 8;
  double parts[kQuantities][kParts] = {};
  const std::int64_t whole = cols / kParts * kParts;
  for (std::int64_t j = 0; j < whole; j += kParts)
    for (std::int64_t k = 0; k < kParts; ++k) {
      const std::array<double, kQuantities> term = terms(j + k);
      for (std::size_t q = 0; q < kQuantities; ++q) parts[q][k] += term[q];
    }
  std::array<double, kQuantities> sums{};
  for (std::size_t q = 0; q < kQuantities; ++q)
    sums[q] = std::accumulate(std::begin(parts[q]), std::end(parts[q]), 0.0);
  for (std::int64_t j = whole; j < cols; ++j) {
    const std::array<double, kQuantities> term = terms(j);
    for (std::size_t q = 0; q < kQuantities; ++q) sums[q] += term[q];
  }
  return sums;
}

void scale(std::vector<double>& values, double factor) {
  for (double& value : values) value *= factor;
}

/// The worst element of a row that does not hold. Within a last place of the tolerance the two
/// oracles may differ: then no element is named, but the finding stands.
Miss worst_of_row(const std::string& name, std::span<const float> got,
                  const std::vector<double>& want, const std::vector<double>& allowed) {
  const auto miss = kit::worst_miss(got, want, allowed, kit::index_namer(name, {std::ssize(got)}));
  return miss.value_or(Miss{name + "[0]", got[0], want[0], allowed[0], 1, std::ssize(got)});
}

}  // namespace

LapOracle::LapOracle(const Problem& problem) : problem_(problem) {
  const auto cols = static_cast<std::size_t>(problem.cols);
  for (std::int64_t j = 0; j < problem.cols; ++j) gamma_.push_back(problem.gamma_at(j));
  beta_.assign(problem.beta.begin(), problem.beta.end());
  beta_.resize(cols);  // zeros where there is none
  for (auto* sums : {&dgamma_, &dbeta_, &dgamma_allowed_, &dbeta_allowed_}) sums->resize(cols);
  rows_.resize(static_cast<std::size_t>(problem.rows));
  for (std::int64_t i = 0; i < problem.rows; ++i) add_row(i);
  scale(dgamma_allowed_, parameter_slack(problem) * kUnitRoundoff);
  scale(dbeta_allowed_, sum_slack(problem.rows) * kUnitRoundoff);
}

void LapOracle::add_row(std::int64_t i) {
  RowSums& row = rows_[static_cast<std::size_t>(i)];
  use_statistics(i, row);
  const float* x = problem_.x.row(i).data();
  const float* dys = problem_.dy.row(i).data();
  const double* gamma = gamma_.data();
  double* dgamma = dgamma_.data();
  double* dbeta = dbeta_.data();
  double* dgamma_allowed = dgamma_allowed_.data();
  double* dbeta_allowed = dbeta_allowed_.data();
  const auto sums = row_sums<4>(problem_.cols, [&](std::int64_t j) {
    const double xhat = (x[j] - row.mean) * row.rstd;
    const double dy = dys[j];
    const double w = gamma[j] * dy;
    dgamma[j] += dy * xhat;
    dbeta[j] += dy;
    dgamma_allowed[j] += std::abs(dy) * (std::abs(xhat) * (1 + row.kappa) + row.kappa);
    dbeta_allowed[j] += std::abs(dy);
    return std::array{w, w * xhat, std::abs(w), std::abs(w * xhat)};
  });
  const double cols = static_cast<double>(problem_.cols);
  row.a = sums[0] / cols;
  row.b = sums[1] / cols;
  row.w_size = sums[2] / cols;
  row.w_xhat_size = sums[3] / cols;
}

void LapOracle::use_statistics(std::int64_t i, RowSums& row) const {
  const double cols = static_cast<double>(problem_.cols);
  const float* x = problem_.x.row(i).data();
  const auto first = row_sums<2>(problem_.cols, [&](std::int64_t j) {
    return std::array{static_cast<double>(x[j]), std::abs(static_cast<double>(x[j]))};
  });
  if (problem_.mean.empty()) {
    row.mean = first[0] / cols;
    const auto second = row_sums<1>(problem_.cols, [&](std::int64_t j) {
      const double centred = x[j] - row.mean;
      return std::array{centred * centred};
    });
    row.rstd = 1 / std::sqrt(second[0] / cols + problem_.eps);
  } else {
    row.mean = problem_.mean[static_cast<std::size_t>(i)];
    row.rstd = problem_.rstd[static_cast<std::size_t>(i)];
  }
  row.kappa = row.rstd * std::max(first[1] / cols, std::abs(row.mean));
}

// Both are branch-free, so that they vectorise; a NaN does not hold.
bool LapOracle::y_holds(std::int64_t i, const float* y) const {
  const RowSums& row = rows_[static_cast<std::size_t>(i)];
  const float* x = problem_.x.row(i).data();
  const double* gamma = gamma_.data();
  const double* beta = beta_.data();
  const double unit = sum_slack(problem_.cols) * kUnitRoundoff;
  std::int64_t held = 0;
  for (std::int64_t j = 0; j < problem_.cols; ++j) {
    const double xhat = (x[j] - row.mean) * row.rstd;
    const double error = std::abs(y[j] - (gamma[j] * xhat + beta[j]));
    const double spread = std::abs(xhat) * (1 + row.kappa) + row.kappa;
    const double allowed = unit * (std::abs(gamma[j]) * spread + std::abs(beta[j])) + kSmallest;
    held += error <= allowed ? 1 : 0;
  }
  return held == problem_.cols;
}

bool LapOracle::dx_holds(std::int64_t i, const float* dx) const {
  const RowSums& row = rows_[static_cast<std::size_t>(i)];
  const float* x = problem_.x.row(i).data();
  const float* dy = problem_.dy.row(i).data();
  const double* gamma = gamma_.data();
  const double kappa = row.kappa;
  const double unit = sum_slack(problem_.cols) * kUnitRoundoff * row.rstd;
  const double base = (1 + kappa) * row.w_size + kappa * row.w_xhat_size;
  const double slope = (1 + kappa) * row.w_xhat_size + kappa * row.w_size;
  std::int64_t held = 0;
  for (std::int64_t j = 0; j < problem_.cols; ++j) {
    const double xhat = (x[j] - row.mean) * row.rstd;
    const double w = gamma[j] * dy[j];
    const double error = std::abs(dx[j] - row.rstd * (w - row.a - xhat * row.b));
    const double allowed =
        unit * ((1 + kappa) * std::abs(w) + base + slope * std::abs(xhat)) + kSmallest;
    held += error <= allowed ? 1 : 0;
  }
  return held == problem_.cols;
}

/// For messages: a row that the slow oracle can look at.
Problem LapOracle::row_alone(std::int64_t i) const {
  Problem alone;
  alone.rows = 1;
  alone.cols = problem_.cols;
  alone.eps = problem_.eps;
  alone.gamma = problem_.gamma;
  alone.beta = problem_.beta;
  alone.x = Rows(1, problem_.cols, problem_.cols, 0);
  alone.dy = alone.x;
  std::ranges::copy(problem_.x.row(i), alone.x.row(0).begin());
  std::ranges::copy(problem_.dy.row(i), alone.dy.row(0).begin());
  if (!problem_.mean.empty()) {
    alone.mean = {problem_.mean[static_cast<std::size_t>(i)]};
    alone.rstd = {problem_.rstd[static_cast<std::size_t>(i)]};
  }
  return alone;
}

std::optional<Miss> LapOracle::judge_forward(std::span<const float> y) const {
  const auto cols = static_cast<std::size_t>(problem_.cols);
  for (std::int64_t i = 0; i < problem_.rows; ++i) {
    const auto row = y.subspan(static_cast<std::size_t>(i) * cols, cols);
    if (y_holds(i, row.data())) continue;
    const Expected expected = expect(row_alone(i));
    return worst_of_row(fmt::format("y[{}]", i), row, expected.y, expected.y_allowed);
  }
  return std::nullopt;
}

std::optional<Miss> LapOracle::judge(std::span<const float> dx, std::span<const float> dgamma,
                                     std::span<const float> dbeta) const {
  const auto cols = static_cast<std::size_t>(problem_.cols);
  for (std::int64_t i = 0; i < problem_.rows; ++i) {
    const auto row = dx.subspan(static_cast<std::size_t>(i) * cols, cols);
    if (dx_holds(i, row.data())) continue;
    const Expected expected = expect(row_alone(i));
    return worst_of_row(fmt::format("dx[{}]", i), row, expected.dx, expected.dx_allowed);
  }
  if (auto miss = kit::worst_miss(dgamma, dgamma_, dgamma_allowed_,
                                  kit::index_namer("dgamma", {problem_.cols})))
    return miss;
  return kit::worst_miss(dbeta, dbeta_, dbeta_allowed_, kit::index_namer("dbeta", {problem_.cols}));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
