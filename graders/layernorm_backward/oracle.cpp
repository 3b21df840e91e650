// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <cmath>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A row in float64. xhat is computed from x - mean without the rounding of the mean.
struct Row {
  explicit Row(std::int64_t cols)
      : centred(static_cast<std::size_t>(cols)),
        xhat(centred.size()),
        dy(centred.size()),
        w(centred.size()) {}

  std::vector<double> centred, xhat, dy, w;  // x - mean, and that times rstd
  double mean = 0;
  double rstd = 0;                     // of either sign where it is given
  double w_sum = 0, w_xhat_sum = 0;    // of w and of w xhat
  double x_size = 0;                   // mean of |x|, or |mean| where that is given and larger
  double w_size = 0, w_xhat_size = 0;  // means of |w| and |w xhat|

  double kappa() const { return x_size * std::abs(rstd); }
  /// |xhat|, and what an uncertain mean and variance add to it.
  double spread(std::size_t j) const { return std::abs(xhat[j]) * (1 + kappa()) + kappa(); }
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Subtracts the mean, and the mean of what is left: what the first subtraction rounded off.
double centre(std::vector<double>& values) {
  double total = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const double mean = mean_of(values);
    for (double& value : values) value -= mean;
    total += mean;
  }
  return total;
}

void use_own_statistics(Row& row, double eps) {
  row.mean = centre(row.centred);
  double squares = 0;
  for (const double value : row.centred) squares += value * value;
  row.rstd = 1 / std::sqrt(squares / static_cast<double>(row.centred.size()) + eps);
}

void read_row(const Problem& problem, std::int64_t i, Row& row) {
  const auto x = problem.x.row(i);
  const auto dy = problem.dy.row(i);
  row.centred.assign(x.begin(), x.end());
  if (problem.mean.empty()) {
    use_own_statistics(row, problem.eps);
  } else {
    row.mean = problem.mean[static_cast<std::size_t>(i)];
    row.rstd = problem.rstd[static_cast<std::size_t>(i)];
    for (double& value : row.centred) value -= row.mean;
  }
  row.w_sum = row.w_xhat_sum = row.x_size = row.w_size = row.w_xhat_size = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    row.xhat[j] = row.centred[j] * row.rstd;
    row.dy[j] = dy[j];
    row.w[j] = row.dy[j] * problem.gamma_at(static_cast<std::int64_t>(j));
    row.w_sum += row.w[j];
    row.w_xhat_sum += row.w[j] * row.xhat[j];
    row.x_size += std::abs(static_cast<double>(x[j]));
    row.w_size += std::abs(row.w[j]);
    row.w_xhat_size += std::abs(row.w[j] * row.xhat[j]);
  }
  row.x_size = std::max(row.x_size / static_cast<double>(x.size()), std::abs(row.mean));
  row.w_size /= static_cast<double>(x.size());
  row.w_xhat_size /= static_cast<double>(x.size());
}

/// The chain rule as it is derived, x -> (variance, mean) -> y, and not as it is usually
/// programmed.
void put_gradient(const Row& row, double* dx) {
  const double cols = static_cast<double>(row.w.size());
  const double variance_gradient = -0.5 * row.rstd * row.rstd * row.w_xhat_sum;
  const double mean_gradient = -row.rstd * row.w_sum;
  for (std::size_t j = 0; j < row.w.size(); ++j)
    dx[j] =
        row.rstd * row.w[j] + variance_gradient * 2 * row.centred[j] / cols + mean_gradient / cols;
}

void put_gradient_bounds(const Row& row, double* core, double* allowed) {
  const double slack = sum_slack(static_cast<std::int64_t>(row.w.size())) * kUnitRoundoff;
  const double kappa = row.kappa();
  const double rstd = std::abs(row.rstd);
  for (std::size_t j = 0; j < row.w.size(); ++j) {
    const double xhat = std::abs(row.xhat[j]);
    const double shift = kappa * rstd * (row.w_xhat_size + xhat * row.w_size);
    core[j] = rstd * (std::abs(row.w[j]) + row.w_size + xhat * row.w_xhat_size);
    allowed[j] = slack * (core[j] * (1 + kappa) + shift) + kSmallest;
  }
}

void put_forward(const Problem& problem, const Row& row, double* y, double* allowed) {
  const double slack = sum_slack(problem.cols) * kUnitRoundoff;
  for (std::size_t j = 0; j < row.xhat.size(); ++j) {
    const double gamma = problem.gamma_at(static_cast<std::int64_t>(j));
    const double beta = problem.beta.empty() ? 0.0 : problem.beta[j];
    y[j] = gamma * row.xhat[j] + beta;
    allowed[j] = slack * (std::abs(gamma) * row.spread(j) + std::abs(beta)) + kSmallest;
  }
}

/// Adds a row to the parameter gradients and to the sums of magnitudes behind their bounds.
void add_parameters(const Row& row, Expected& made) {
  for (std::size_t j = 0; j < row.dy.size(); ++j) {
    made.dgamma[j] += row.dy[j] * row.xhat[j];
    made.dbeta[j] += row.dy[j];
    made.dgamma_allowed[j] += std::abs(row.dy[j]) * row.spread(j);
    made.dbeta_allowed[j] += std::abs(row.dy[j]);
  }
}

}  // namespace

double sum_slack(std::int64_t terms) {
  return 16 + 1.5 * std::sqrt(static_cast<double>(terms));
}

void scale_parameter_bounds(const Problem& problem, Expected& made) {
  const double dbeta_slack = sum_slack(problem.rows);
  const double dgamma_slack =
      sum_slack(problem.cols) + 1.5 * std::sqrt(static_cast<double>(problem.rows));
  for (double& sum : made.dgamma_allowed) sum = dgamma_slack * kUnitRoundoff * sum + kSmallest;
  for (double& sum : made.dbeta_allowed) sum = dbeta_slack * kUnitRoundoff * sum + kSmallest;
}

Expected expect(const Problem& problem) {
  Expected made;
  const auto elements = static_cast<std::size_t>(problem.rows * problem.cols);
  for (auto* part : {&made.y, &made.dx, &made.y_allowed, &made.dx_allowed, &made.dx_core})
    part->resize(elements);
  for (auto* part : {&made.dgamma, &made.dbeta, &made.dgamma_allowed, &made.dbeta_allowed})
    part->assign(static_cast<std::size_t>(problem.cols), 0);
  Row row(problem.cols);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const std::int64_t at = i * problem.cols;
    read_row(problem, i, row);
    put_forward(problem, row, made.y.data() + at, made.y_allowed.data() + at);
    put_gradient(row, made.dx.data() + at);
    put_gradient_bounds(row, made.dx_core.data() + at, made.dx_allowed.data() + at);
    add_parameters(row, made);
  }
  scale_parameter_bounds(problem, made);
  return made;
}

std::vector<RowFacts> row_facts(const Problem& problem) {
  std::vector<RowFacts> facts;
  Row row(problem.cols);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    read_row(problem, i, row);
    facts.push_back({row.mean, row.rstd, row.w_xhat_sum});
  }
  return facts;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
