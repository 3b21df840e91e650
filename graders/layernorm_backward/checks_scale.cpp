// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

#include "graders/kit/compare.h"
#include "graders/kit/device.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Columns for which a plain running sum in float is still an honest way to a mean. The sum reaches
/// cols * offset; once its last place is coarser than the deviation (1), every addition rounds the
/// same way and the error grows with cols instead of sqrt(cols): 2 u cols offset <= 1/2 keeps
/// clear.
std::int64_t honest_columns(double offset, std::int64_t most) {
  const double limit = 0.25 / (kUnitRoundoff * std::max(1.0, offset));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(limit), 4, most);
}

/// The first two numbers of every row lie a deviation to either side of the offset. Four numbers
/// drawn freely lie now and then within some last places of it (1/16 at 1e6): a running variance in
/// float can then come out as 0, and no bound of first order holds for what follows.
Problem offset_problem(Rng& rng, double offset, std::int64_t most_columns) {
  const double drawn = offset * rng.uniform(0.7, 1.4) * (rng.chance(0.5) ? -1 : 1);
  const std::int64_t cols = honest_columns(std::abs(drawn), most_columns);
  Spread spread;
  spread.x_mean = drawn;
  const std::int64_t rows = rng.integer(4, 16);
  Problem problem =
      make_problem(rng, rows, std::max<std::int64_t>(4, cols - rng.integer(0, 5)), spread);
  for (std::int64_t i = 0; i < rows; ++i) {
    problem.x.row(i)[0] = static_cast<float>(drawn - 1);
    problem.x.row(i)[1] = static_cast<float>(drawn + 1);
  }
  return problem;
}

/// Points by digits lost: all of them up to 16 u core, half where a float mean must end up.
double share_for(double ratio) {
  constexpr double kExcellent = 16;
  constexpr double kWorst = 1e6;
  const double lost = std::log(std::max(1.0, ratio / kExcellent)) / std::log(kWorst / kExcellent);
  return 1 - 0.5 * std::min(1.0, lost);
}

// The inputs are what the float array holds; nothing is lost by storing them.
void offset_ladder(Probe& probe) {
  for (const double offset : {0.0, 1e2, 1e3, 1e4, 1e5, 1e6})
    for (const std::int64_t most : {48, 1024}) {
      Rng rng = probe.begin_case(fmt::format("offset_{:g}_up_to_{}_columns", offset, most));
      require_right(probe, offset_problem(rng, offset, most));
    }
  Rng rng = probe.begin_case("four_columns_mean_2000");
  Spread spread;
  spread.x_mean = 2000;
  require_right(probe, make_problem(rng, 16, 4, spread));
}

// Without kappa in the bound: what remains is reached by those who keep the mean to more than
// float. Statistics are all that is wanted of the forward pass, which is no reason to be less
// careful.
void offset_accuracy(Probe& probe) {
  double worst = 0;
  for (const double offset : {1e3, 1e4, 1e5, 1e6}) {
    Rng rng = probe.begin_case(fmt::format("offset_{:g}", offset));
    const Problem problem = offset_problem(rng, offset, 512);
    CallOptions options;
    options.y = false;
    const Answer answer = run_step(probe, problem, options);
    const Expected expected = expect(problem);
    require_gradients(probe, problem, answer, expected);
    worst =
        std::max(worst, kit::worst_ratio(answer.dx, expected.dx, expected.dx_core, kUnitRoundoff));
  }
  probe.fact("error in units of float roundoff at large offsets", worst, "u");
  probe.earn(share_for(worst));
}

void tiny_variance(Probe& probe) {
  for (const double deviation : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
    Rng rng = probe.begin_case(fmt::format("deviation_{:g}", deviation));
    require_right(probe, make_problem(rng, rng.integer(6, 20), near_to(rng, 200),
                                      {0, deviation * rng.uniform(0.7, 1.4), 0.3, 1}));
  }
  // Equal terms round the same way in a running sum, which then loses cols u instead of sqrt(cols)
  // u. So constants are arbitrary in short rows, and have few digits (exact sums) in long ones.
  for (const bool long_rows : {false, true}) {
    Rng rng = probe.begin_case(long_rows ? "constant_long_rows" : "constant_short_rows");
    Problem problem =
        make_problem(rng, rng.integer(6, 20), long_rows ? near_to(rng, 200) : rng.integer(4, 16));
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      const double drawn = i == 0 ? 0 : rng.uniform(-3, 3);
      const double value = long_rows ? std::round(drawn * 1024) / 1024 : drawn;
      std::ranges::fill(problem.x.row(i), static_cast<float>(value));
    }
    require_right(probe, problem);
  }
}

// A running float sum of squares that starts with the outlier rounds the rest the same way every
// time where its last place (u outlier^2) is not small against them, and loses up to cols u instead
// of sqrt(cols) u. Short rows may lose that much; long ones get outliers below 2^9.
void outlier(Probe& probe) {
  for (const std::int64_t cols : {40, 1000, 4096})
    for (const char* where : {"first", "last", "random"}) {
      Rng rng = probe.begin_case(fmt::format("{}_of_{}_columns", where, cols));
      Problem problem = make_problem(rng, 4, near_to(rng, cols));
      for (std::int64_t i = 0; i < problem.rows; ++i) {
        const std::int64_t j = index_at(rng, where, problem.cols);
        const double size = cols < 100 ? log_uniform(rng, 3e3, 3e4) : log_uniform(rng, 100, 400);
        problem.x.row(i)[static_cast<std::size_t>(j)] =
            static_cast<float>(rng.chance(0.5) ? -size : size);
      }
      CallOptions options;
      options.y = std::string_view(where) != "last";
      require_right(probe, problem, options);
    }
}

/// Rows of one number each, as large as it may be: x - mean is 0, and x r is beyond all floats.
Problem constant_problem(Rng& rng, std::int64_t cols) {
  Problem problem = make_big_problem(rng, rng.integer(3, 20), cols);
  problem.eps = log_uniform(rng, 1e-50, 1e-45);
  for (std::int64_t i = 0; i < problem.rows; ++i)
    std::ranges::fill(problem.x.row(i), near_1e18(rng));
  return problem;
}

/// The same in w = gamma dy: w - a is 0, and w r does not fit into a float. What 1 / cols rounds
/// off of a is multiplied with w r as well, and fits: eps is no smaller.
Problem constant_gradient(Rng& rng, std::int64_t cols) {
  Problem problem = constant_problem(rng, cols);
  problem.eps = log_uniform(rng, 1e-12, 1e-9);
  std::ranges::fill(problem.gamma, near_1e18(rng));
  for (std::int64_t i = 0; i < problem.rows; ++i)
    std::ranges::fill(problem.dy.row(i), near_1e18(rng));
  return problem;
}

// Sums of squares of a row stay below 1e38; cols times that, and r^3, do not fit into a float any
// more.
void big_magnitude(Probe& probe) {
  for (const double deviation : {1e15, 3e17}) {
    Rng rng = probe.begin_case(fmt::format("deviation_{:g}", deviation));
    const Spread spread{0, deviation, 0.3, log_uniform(rng, 1, 1e6)};
    require_right(probe, make_big_problem(rng, rng.integer(3, 20), near_to(rng, 200), spread));
  }
  for (const std::int64_t cols : {1, 24}) {
    Rng rng = probe.begin_case(fmt::format("constant_near_{}_columns", cols));
    require_right_with_y(probe, constant_problem(rng, near_to(rng, cols)));
    rng = probe.begin_case(fmt::format("constant_gradient_near_{}_columns", cols));
    require_right_with_y(probe, constant_gradient(rng, near_to(rng, cols)));
  }
}

// dy = 1 + 0.1 noise, and columns of x that lie above or below their row's mean throughout: the
// sums grow with every row. Gradients of mean zero would hide an accumulator that is too short.
void biased_gradient(Probe& probe) {
  for (const std::int64_t rows : {4096, 131'072}) {
    Rng rng = probe.begin_case(fmt::format("about_{}_rows", rows));
    Problem problem =
        make_big_problem(rng, near_to(rng, rows), rng.integer(3, 8), {0, 0.5, 1, 0.1});
    for (std::int64_t j = 0; j < problem.cols; ++j) {
      const auto bias = static_cast<float>(rng.normal());
      for (std::int64_t i = 0; i < problem.rows; ++i)
        problem.x.row(i)[static_cast<std::size_t>(j)] += bias;
    }
    if (kit::on_device(probe)) give_true_statistics(problem);  // sums alone, of as many rows
    CallOptions options;
    options.y = options.dx = false;
    require_right(probe, problem, options);
  }
}

}  // namespace

std::vector<Check> scale_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"offset_ladder", "variance by subtraction of squares: rows far from zero", correctness, 3,
        critical},
       offset_ladder},
      {{"offset_accuracy", "digits lost with the mean of rows far from zero", correctness, 1,
        minor},
       offset_accuracy},
      {{"tiny_variance", "eps in the wrong place; constant rows", correctness, 2, critical},
       tiny_variance},
      {{"outlier", "one large element in a row", correctness, 1, major}, outlier},
      {{"biased_gradient", "short accumulators of dgamma and dbeta", correctness, 2, critical},
       biased_gradient},
      {{"big_magnitude", "intermediate powers that leave the range of float", correctness, 0.5,
        minor},
       big_magnitude},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
