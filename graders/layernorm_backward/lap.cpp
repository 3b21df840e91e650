// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "graders/kit/compare.h"
#include "harness/core/machine.h"
#include "harness/core/parallel.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Sums of several quantities over a row, in eight interleaved parts each: without them a sum is
/// one chain of additions, which no vector unit can take. `terms(j)` returns one value per
/// quantity.
template <std::size_t kQuantities, class Terms>
std::array<double, kQuantities> row_sums(std::int64_t cols, const Terms& terms) {
  constexpr std::int64_t kParts = 8;
  double parts[kQuantities][kParts] = {};
  const auto add = [&](std::int64_t j, std::int64_t part) {
    const std::array<double, kQuantities> term = terms(j);
    for (std::size_t q = 0; q < kQuantities; ++q) parts[q][part] += term[q];
  };
  const std::int64_t whole = cols / kParts * kParts;
  for (std::int64_t j = 0; j < whole; j += kParts)
    for (std::int64_t part = 0; part < kParts; ++part) add(j + part, part);
  for (std::int64_t j = whole; j < cols; ++j) add(j, j - whole);
  std::array<double, kQuantities> sums{};
  for (std::size_t q = 0; q < kQuantities; ++q)
    sums[q] = std::accumulate(std::begin(parts[q]), std::end(parts[q]), 0.0);
  return sums;
}

constexpr std::vector<double> Expected::*kColumnSums[] = {
    &Expected::dgamma, &Expected::dbeta, &Expected::dgamma_allowed, &Expected::dbeta_allowed};

/// The rows of one of `parts` equal parts.
struct RowRange {
  RowRange(std::int64_t rows, std::size_t part, int parts)
      : begin(rows * static_cast<std::int64_t>(part) / parts),
        end(rows * (static_cast<std::int64_t>(part) + 1) / parts) {}
  std::int64_t begin, end;
};

}  // namespace

LapOracle::LapOracle(const Problem& problem)
    : problem_(problem),
      threads_(this_machine().cores),
      beta_(problem.beta.begin(), problem.beta.end()),
      rows_(static_cast<std::size_t>(problem.rows)) {
  for (std::int64_t j = 0; j < problem.cols; ++j) gamma_.push_back(problem.gamma_at(j));
  beta_.resize(gamma_.size());  // zeros where there is none
  for (const auto sum : kColumnSums) (columns_.*sum).resize(gamma_.size());
  std::vector<Expected> sums(static_cast<std::size_t>(threads_), columns_);
  parallel_for(sums.size(), threads_, [&](std::size_t part) {
    const RowRange range(problem.rows, part, threads_);
    for (std::int64_t i = range.begin; i < range.end; ++i) add_row(i, sums[part]);
  });
  for (const Expected& part : sums)
    for (const auto sum : kColumnSums)
      for (std::size_t j = 0; j < gamma_.size(); ++j) (columns_.*sum)[j] += (part.*sum)[j];
  scale_parameter_bounds(problem, columns_);
}

void LapOracle::add_row(std::int64_t i, Expected& columns) {
  RowSums& row = rows_[static_cast<std::size_t>(i)];
  use_statistics(i, row);
  const float* x = problem_.x.row(i).data();
  const float* dys = problem_.dy.row(i).data();
  const double* gamma = gamma_.data();
  double* dgamma = columns.dgamma.data();
  double* dbeta = columns.dbeta.data();
  double* dgamma_allowed = columns.dgamma_allowed.data();
  double* dbeta_allowed = columns.dbeta_allowed.data();
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

std::optional<Miss> LapOracle::judge_rows(const Part& part, std::span<const float> got) const {
  const auto cols = static_cast<std::size_t>(problem_.cols);
  const auto row = [&](std::int64_t i) {
    return got.subspan(static_cast<std::size_t>(i) * cols, cols);
  };
  std::vector<std::int64_t> wrong(static_cast<std::size_t>(threads_), problem_.rows);
  parallel_for(wrong.size(), threads_, [&](std::size_t k) {
    const RowRange range(problem_.rows, k, threads_);
    for (std::int64_t i = range.begin; i < range.end && wrong[k] == problem_.rows; ++i)
      if (!(this->*part.holds)(i, row(i).data())) wrong[k] = i;
  });
  const std::int64_t i = *std::ranges::min_element(wrong);
  if (i == problem_.rows) return std::nullopt;
  const Expected expected = expect(with_rows(problem_, {i}));
  const std::vector<double>& want = expected.*part.want;
  const std::vector<double>& allowed = expected.*part.allowed;
  const std::string name = fmt::format("{}[{}]", part.name, i);
  // Within a last place of the tolerance the two oracles may differ: then no element is named, but
  // the finding stands.
  return kit::worst_miss(row(i), want, allowed, kit::index_namer(name, {problem_.cols}))
      .value_or(Miss{name + "[0]", row(i)[0], want[0], allowed[0], 1, problem_.cols});
}

std::optional<Miss> LapOracle::judge_y(std::span<const float> y) const {
  return judge_rows({"y", &LapOracle::y_holds, &Expected::y, &Expected::y_allowed}, y);
}

std::optional<Miss> LapOracle::judge_gradients(std::span<const float> dx,
                                               std::span<const float> dgamma,
                                               std::span<const float> dbeta) const {
  const Part part{"dx", &LapOracle::dx_holds, &Expected::dx, &Expected::dx_allowed};
  if (auto miss = judge_rows(part, dx)) return miss;
  if (auto miss = kit::worst_miss(dgamma, columns_.dgamma, columns_.dgamma_allowed,
                                  kit::index_namer("dgamma", {problem_.cols})))
    return miss;
  return kit::worst_miss(dbeta, columns_.dbeta, columns_.dbeta_allowed,
                         kit::index_namer("dbeta", {problem_.cols}));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
