// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fmt/format.h>

#include "graders/kit/device.h"
#include "graders/kit/domain.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Whole tiles of most sizes, which leave no last one, and the first that 16 bits do not hold.
constexpr std::int64_t kWholeColumns[] = {kit::kDivisible, 1 << 15, 1 << 16};

/// Means, deviations and gradients that differ from row to row by many orders of magnitude.
Problem rows_of_all_magnitudes(Rng& rng, std::int64_t rows, std::int64_t cols) {
  Problem made = make_problem(rng, rows, cols);
  for (std::int64_t i = 0; i < rows; ++i) {
    const double deviation = log_uniform(rng, 1e-2, 1e6);
    const double mean = deviation * rng.uniform(-3, 3);
    const double dy_size = i == 0 ? 1e-7 : i + 1 == rows ? 1e7 : log_uniform(rng, 1e-7, 1e7);
    for (float& value : made.x.row(i)) value = static_cast<float>(mean + deviation * value);
    for (float& value : made.dy.row(i)) value = static_cast<float>(dy_size * value);
  }
  return made;
}

void require_forward(Probe& probe, const Problem& problem) {
  Answer answer;
  run_forward(probe, problem, answer);
  require_y(probe, problem, answer, expect(problem));
}

void all_gradients(Probe& probe) {
  for (const std::int64_t cols : {1, 3, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    const std::int64_t rows = rng.integer(2, cols > 2000 ? 9 : 40);
    require_right(probe, make_problem(rng, rows, near_to(rng, cols), random_spread(rng)));
  }
  Rng rng = probe.begin_case("4096_rows");
  require_right(probe, make_big_problem(rng, near_to(rng, 4096), rng.integer(5, 40)));
  for (const std::int64_t cols : kWholeColumns) {
    rng = probe.begin_case(fmt::format("{}_columns", cols));
    require_right(probe, make_big_problem(rng, kit::on_device(probe) ? 1 : 2, cols));
  }
  rng = probe.begin_case("a_row_of_more_than_2_to_the_17");
  Problem problem = make_big_problem(rng, 1, rng.integer(131'073, 140'000));
  add_ramp(rng, problem, 4);
  require_right(probe, problem);
}

void forward_values(Probe& probe) {
  for (const double mean : {0.0, 3.0, 1e3, 1e5})
    for (const std::int64_t cols : {4, 33, 1024}) {
      if (static_cast<double>(cols) * mean > 2e6)
        continue;  // see honest_columns in checks_scale.cpp
      Rng rng = probe.begin_case(fmt::format("mean_{:g}_{}_columns", mean, cols));
      Spread spread = random_spread(rng);
      spread.x_mean = mean;
      require_forward(probe, make_problem(rng, rng.integer(2, 20), near_to(rng, cols, 2), spread));
    }
  for (const std::int64_t cols : kWholeColumns) {
    Rng rng = probe.begin_case(fmt::format("{}_columns", cols));
    require_forward(probe, make_big_problem(rng, 1, cols));
  }
  Rng rng = probe.begin_case("outlier_first");
  Problem problem = make_problem(rng, rng.integer(2, 6), near_to(rng, 2000));
  for (std::int64_t i = 0; i < problem.rows; ++i)
    problem.x.row(i)[0] = static_cast<float>(log_uniform(rng, 100, 250));
  require_forward(probe, problem);
}

void variance_divisor(Probe& probe) {
  for (const std::int64_t cols : {2, 3, 5, 9, 17, 40, 64, 2048, 8192}) {
    Rng rng = probe.begin_case(fmt::format("about_{}_columns", cols));
    const std::int64_t rows = cols > 1000 ? 4 : rng.integer(8, 64);
    require_right(probe, make_problem(rng, rows, near_to(rng, cols, 2)));
  }
}

void rows_apart(Probe& probe) {
  for (const std::int64_t cols : {24, 300}) {
    Rng rng = probe.begin_case(fmt::format("as_drawn_{}_columns", cols));
    const Problem problem = rows_of_all_magnitudes(rng, rng.integer(30, 60), near_to(rng, cols));
    require_right(probe, problem);
    const auto row_order = random_order(rng, problem.rows);
    const auto column_order = random_order(rng, problem.cols);
    probe.begin_case("rows_permuted");
    require_right(probe, with_rows(problem, row_order));
    probe.begin_case("columns_permuted");
    require_right(probe, with_columns(problem, column_order));
  }
}

/// In the last row of so many that threads have more than one each: long rows, and more than a
/// float can cut into so many blocks.
void needles_of_many_threads(Probe& probe) {
  for (const bool long_rows : {true, false}) {
    Rng rng =
        probe.begin_case(fmt::format("more_than_64_threads_{}_rows", long_rows ? "long" : "short"));
    CallOptions options;
    options.threads = 2 * static_cast<int>(rng.integer(35, 63)) + 1;
    const std::int64_t rows =
        long_rows ? options.threads + 1 : rows_that_float_loses(rng, options.threads);
    Problem problem =
        make_big_problem(rng, rows, long_rows ? rng.integer(4097, 4400) : 2, {0.5, 1.0, 0.0, 0.0});
    const std::int64_t j = rng.integer(0, problem.cols - 1);
    problem.dy.row(rows - 1)[static_cast<std::size_t>(j)] = static_cast<float>(rng.uniform(1, 2));
    require_right_with_y(probe, problem, options);
  }
}

// dy is zero but for one element: everything that does not depend on it must be exactly zero. An
// odd number of rows leaves one over for two threads.
void needles(Probe& probe) {
  constexpr std::array<std::array<std::int64_t, 2>, 5> kShapes{
      {{3, 5000}, {37, 61}, {1000, 33}, {70'000, 3}, {9, 1024}}};
  for (const auto& [rows, cols] : kShapes) {
    // A simulated device takes seconds for a block of threads for each of so many rows.
    if (rows > 10'000 && kit::on_device(probe)) continue;
    for (const char* where : {"first", "last", "random"}) {
      Rng rng = probe.begin_case(fmt::format("{}_of_about_{}x{}", where, rows, cols));
      Problem problem =
          make_big_problem(rng, near_to(rng, rows), near_to(rng, cols), {0.5, 1.0, 0.0, 0.0});
      const std::int64_t i = index_at(rng, where, problem.rows);
      const std::int64_t j = index_at(rng, where, problem.cols);
      problem.dy.row(i)[static_cast<std::size_t>(j)] = static_cast<float>(rng.uniform(1, 2));
      require_right(probe, problem);
    }
  }
  if (!kit::on_device(probe)) needles_of_many_threads(probe);
}

void gamma_zeros(Probe& probe) {
  for (const std::int64_t cols : {7, 96, 1024}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    Problem problem = make_problem(rng, rng.integer(3, 20), near_to(rng, cols, 4));
    for (float& gamma : problem.gamma) {
      const double kind = rng.uniform();
      if (kind < 0.3) gamma = 0;
      if (kind > 0.85) gamma = 1e-30f;
    }
    problem.gamma[static_cast<std::size_t>(rng.integer(0, problem.cols - 1))] = 0;
    require_right(probe, problem);
  }
}

// Statistics that the caller brings are taken as they are, right or not.
void external_statistics(Probe& probe) {
  for (const std::int64_t cols : {6, 100, 1500}) {
    Rng rng = probe.begin_case(fmt::format("true_near_{}_columns", cols));
    Problem problem = make_problem(rng, rng.integer(3, 30), near_to(rng, cols), {1, 2, 0.3, 1});
    give_true_statistics(problem);
    require_right(probe, problem);

    rng = probe.begin_case(fmt::format("changed_near_{}_columns", cols));
    for (std::size_t i = 0; i < problem.mean.size(); ++i) {
      problem.mean[i] += static_cast<float>(rng.uniform(-1, 1));
      problem.rstd[i] *= static_cast<float>(log_uniform(rng, 0.3, 3));
    }
    require_right(probe, problem);
  }
  for (const bool long_rows : {false, true}) {
    Rng rng = probe.begin_case(long_rows ? "drawn_long_rows" : "drawn_many_rows");
    const std::int64_t many = kit::on_device(probe) ? 2000 : rng.integer(65'537, 70'000);
    Problem problem =
        make_big_problem(rng, long_rows ? 3 : many, long_rows ? rng.integer(65'537, 70'000) : 3);
    give_drawn_statistics(rng, problem);
    require_right(probe, problem);
  }
}

}  // namespace

std::vector<Check> values_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"all_gradients", "gradients that hold for gamma = 1, or for friendly sizes, only",
        correctness, 3, critical},
       all_gradients},
      {{"variance_divisor", "variance divided by cols - 1", correctness, 2, critical},
       variance_divisor},
      {{"rows_apart", "one row's statistics or magnitude leaking into another", correctness, 2,
        critical},
       rows_apart},
      {{"forward_values", "a forward pass that is only good enough for its own backward",
        correctness, 1, major},
       forward_values},
      {{"needles", "elements that no thread or vector lane visits", correctness, 1, major},
       needles},
      {{"gamma_zeros", "division by gamma", correctness, 1, major}, gamma_zeros},
      {{"external_statistics", "recomputing statistics that the caller brings", correctness, 2,
        major},
       external_statistics},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
