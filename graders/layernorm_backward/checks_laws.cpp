// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "graders/kit/tolerance.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Problem dy_times(const Problem& problem, float factor) {
  Problem scaled = problem;
  for (std::int64_t i = 0; i < problem.rows; ++i)
    for (float& value : scaled.dy.row(i)) value *= factor;
  return scaled;
}

std::vector<float> times(std::vector<float> values, float factor) {
  for (float& value : values) value *= factor;
  return values;
}

/// x on a grid so coarse that adding a grid point is exact.
Problem grid_problem(Rng& rng, std::int64_t rows, std::int64_t cols) {
  Problem made = make_problem(rng, rows, cols);
  for (std::int64_t i = 0; i < rows; ++i)
    for (float& value : made.x.row(i)) value = std::round(value * 1024) / 1024;
  return made;
}

/// `got` is `want` but for what both may lose.
void require_same_dx(Probe& probe, const Problem& problem, const std::vector<float>& got,
                     const std::vector<float>& want, const Expected& one, const Expected& other) {
  std::vector<double> allowed = one.dx_allowed;
  for (std::size_t k = 0; k < allowed.size(); ++k) allowed[k] += other.dx_allowed[k];
  require_dx(probe, problem, got, std::vector<double>(want.begin(), want.end()), allowed);
}

void require_near(Probe& probe, const std::string& where, double got, double want, double allowed) {
  kit::note_share(probe, std::abs(got - want) / allowed);
  if (!kit::within(want, got, allowed)) probe.fail(Miss{where, got, want, allowed});
}

// sum_j dx[i][j] = 0, because adding a constant to a row changes nothing. Blind to what scales dx.
void row_sums_vanish(Probe& probe) {
  for (const std::int64_t cols : {5, 64, 1023, 4096}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    const Problem problem =
        make_problem(rng, rng.integer(4, 12), near_to(rng, cols), {0, 1, 1.0, 0.5});
    const Answer answer = run_step(probe, problem);
    const Expected bounds = expect(problem);
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      double sum = 0;
      double allowed = 0;
      for (std::int64_t j = 0; j < problem.cols; ++j) {
        const auto k = static_cast<std::size_t>(i * problem.cols + j);
        sum += answer.dx[k];
        allowed += bounds.dx_allowed[k];
      }
      require_near(probe, fmt::format("sum over j of dx[{}][j]", i), sum, 0, allowed);
    }
  }
}

// <dx, x - mean> = eps r^2 <w, xhat>: exact for any eps, and 0 only in the limit eps -> 0. Sees eps
// where it is as large as the variance; blind to the mean of w.
void eps_identity(Probe& probe) {
  for (const double relative : {0.1, 0.3, 1.0, 3.0}) {
    Rng rng = probe.begin_case(fmt::format("deviation_{:g}_sqrt_eps", relative));
    const double eps = log_uniform(rng, 1e-7, 1e-2);
    Problem problem = make_problem(rng, rng.integer(4, 12), near_to(rng, 256),
                                   {0, relative * std::sqrt(eps), 0.3, 1});
    problem.eps = eps;
    const Answer answer = run_step(probe, problem);
    const Expected bounds = expect(problem);
    const auto facts = row_facts(problem);
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      const RowFacts& row = facts[static_cast<std::size_t>(i)];
      double product = 0;
      double allowed = 0;
      for (std::int64_t j = 0; j < problem.cols; ++j) {
        const auto k = static_cast<std::size_t>(i * problem.cols + j);
        const double centred = problem.x.row(i)[static_cast<std::size_t>(j)] - row.mean;
        product += answer.dx[k] * centred;
        allowed += bounds.dx_allowed[k] * std::abs(centred);
      }
      const double want = eps * row.rstd * row.rstd * row.w_xhat_sum;
      require_near(probe, fmt::format("<dx[{0}], x[{0}] - mean>", i), product, want, allowed);
    }
  }
}

// Backward is linear in dy, and a power of two is exact in every operation: same bits, scaled.
void gradient_scaling(Probe& probe) {
  Rng rng = probe.begin_case("unscaled");
  const Problem problem = make_problem(rng, rng.integer(20, 60), near_to(rng, 128));
  CallOptions options;
  options.deterministic = true;
  const Answer base = run_step(probe, problem, options);
  require_gradients(probe, problem, base, expect(problem));
  for (const bool grow : {false, true}) {
    const int power = static_cast<int>(rng.integer(20, 50)) * (grow ? 1 : -1);
    probe.begin_case(fmt::format("dy_times_two_to_the_{}", power));
    const float factor = std::ldexp(1.0f, power);
    const Answer want{
        {}, times(base.dx, factor), times(base.dgamma, factor), times(base.dbeta, factor)};
    require_same_gradients(probe, problem, run_step(probe, dy_times(problem, factor), options),
                           want,
                           fmt::format("the gradients of the unscaled dy, times 2^{}", power));
  }
}

// dx of x + c is that of x; dx of 2^k x with 4^k eps is 2^-k times that of x.
void shift_and_scale(Probe& probe) {
  Rng rng = probe.begin_case("as_drawn");
  const Problem problem = grid_problem(rng, rng.integer(4, 20), near_to(rng, 128));
  const Expected bounds = expect(problem);
  const Answer base = run_step(probe, problem);

  rng = probe.begin_case("shifted");
  Problem shifted = problem;
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto shift = static_cast<float>(rng.integer(-30, 30));
    for (float& value : shifted.x.row(i)) value += shift;
  }
  require_same_dx(probe, problem, run_step(probe, shifted).dx, base.dx, expect(shifted), bounds);

  for (const bool grow : {false, true}) {
    const int power = static_cast<int>(rng.integer(45, 55)) * (grow ? 1 : -1);
    probe.begin_case(fmt::format("x_times_two_to_the_{}", power));
    Problem scaled = problem;
    for (std::int64_t i = 0; i < problem.rows; ++i)
      for (float& value : scaled.x.row(i)) value = std::ldexp(value, power);
    scaled.eps = std::ldexp(problem.eps, 2 * power);
    const std::vector<float> dx = times(run_step(probe, scaled).dx, std::ldexp(1.0f, power));
    require_same_dx(probe, problem, dx, base.dx, bounds, bounds);
  }
}

}  // namespace

std::vector<Check> laws_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"eps_identity", "eps added to another quantity than the variance", correctness, 2,
        critical},
       eps_identity},
      {{"row_sums_vanish", "projection on the mean left out, or taken twice", correctness, 2,
        critical},
       row_sums_vanish},
      {{"gradient_scaling", "anything that is not linear in dy: clipping, skipping, saturation",
        correctness, 1, major},
       gradient_scaling},
      {{"shift_and_scale", "dependence on the position and unit of x", correctness, 1, major},
       shift_and_scale},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
