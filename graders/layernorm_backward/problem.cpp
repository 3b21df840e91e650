// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void fill_normal(Rng& rng, Rows& rows, std::int64_t count, double mean, double deviation) {
  for (std::int64_t i = 0; i < count; ++i)
    for (float& value : rows.row(i)) value = static_cast<float>(mean + deviation * rng.normal());
}

/// Rows that are adjacent at one go.
void fill_uniform(Rng& rng, Rows& rows, std::int64_t count, double mean, double deviation) {
  if (count == 0) return;
  const std::span<float> first = rows.row(0);
  const auto width = std::ssize(first);
  if (rows.stride() == width)
    return kit::fill_uniform(rng, {first.data(), static_cast<std::size_t>(count * width)}, mean,
                             deviation);
  for (std::int64_t i = 0; i < count; ++i) kit::fill_uniform(rng, rows.row(i), mean, deviation);
}

Problem blank_problem(std::int64_t rows, std::int64_t cols, const Gaps& gaps) {
  Problem made;
  made.rows = rows;
  made.cols = cols;
  made.y_stride = cols + gaps.y;
  made.dx_stride = cols + gaps.dx;
  made.x = Rows(rows, cols, cols + gaps.x, kit::kNan);
  made.dy = Rows(rows, cols, cols + gaps.dy, kit::kNan);
  return made;
}

void draw_weights(Rng& rng, Problem& problem) {
  problem.eps = log_uniform(rng, 1e-6, 1e-4);
  problem.gamma.clear();
  problem.beta.clear();
  for (std::int64_t j = 0; j < problem.cols; ++j) {
    const double size = log_uniform(rng, 0.25, 2.5);
    problem.gamma.push_back(static_cast<float>(rng.chance(0.3) ? -size : size));
    problem.beta.push_back(static_cast<float>(rng.normal()));
  }
}

}  // namespace

Rows::Rows(std::int64_t rows, std::int64_t cols, std::int64_t stride, float fill)
    : stride_(stride), width_(static_cast<std::size_t>(cols)) {
  if (rows > 0) all_.assign(static_cast<std::size_t>((rows - 1) * stride + cols), fill);
}

Spread random_spread(Rng& rng) {
  return {rng.uniform(-1, 1), log_uniform(rng, 0.5, 3), rng.uniform(-0.5, 0.5),
          log_uniform(rng, 0.3, 3)};
}

Problem make_problem(Rng& rng, std::int64_t rows, std::int64_t cols, const Spread& spread,
                     const Gaps& gaps) {
  Problem made = blank_problem(rows, cols, gaps);
  draw_weights(rng, made);
  fill_normal(rng, made.x, rows, spread.x_mean, spread.x_deviation);
  fill_normal(rng, made.dy, rows, spread.dy_mean, spread.dy_deviation);
  return made;
}

Problem make_big_problem(Rng& rng, std::int64_t rows, std::int64_t cols, const Spread& spread,
                         const Gaps& gaps) {
  Problem made = blank_problem(rows, cols, gaps);
  redraw(rng, made, spread);
  return made;
}

void redraw(Rng& rng, Problem& problem, const Spread& spread) {
  draw_weights(rng, problem);
  fill_uniform(rng, problem.x, problem.rows, spread.x_mean, spread.x_deviation);
  fill_uniform(rng, problem.dy, problem.rows, spread.dy_mean, spread.dy_deviation);
}

void add_ramp(Rng& rng, Problem& problem, double height) {
  const double step = height / static_cast<double>(std::max<std::int64_t>(1, problem.cols - 1));
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const double slope = rng.chance(0.5) ? step : -step;
    double level = -0.5 * slope * static_cast<double>(problem.cols - 1);
    for (float& value : problem.x.row(i)) {
      value = static_cast<float>(value + level);
      level += slope;
    }
  }
}

std::int64_t rows_that_float_loses(Rng& rng, int threads) {
  const auto parts = static_cast<float>(threads);
  for (;;) {
    const std::int64_t rows = rng.integer(200'000, 262'143);
    const auto all = static_cast<float>(rows);
    const float last_cut = all * parts / parts;
    const float last_of_equal = all / parts * parts;
    if (last_cut < all && last_of_equal < all) return rows;
  }
}

Cut cut_that_double_loses(Rng& rng, const Cut& least, const Cut& most) {
  for (;;) {
    const auto threads = static_cast<int>(rng.integer(least.threads, most.threads));
    const std::int64_t rows = rng.integer(least.rows, most.rows);
    const double share = static_cast<double>(rows) / threads;
    if (static_cast<std::int64_t>(share * threads) < rows) return {rows, threads};
  }
}

Problem make_tall_problem(Rng& rng, int threads) {
  Problem made = blank_problem(0, 1, {});
  draw_weights(rng, made);
  made.rows = (std::int64_t{1} << 32) / threads + rng.integer(1, 999);
  made.x = Rows(made.rows, 1, 1, 0.0f);
  made.dy = Rows(made.rows, 1, 1, 1.0f);
  return made;
}

Problem make_wide_problem(Rng& rng, std::int64_t rows, std::int64_t cols) {
  Problem made = blank_problem(rows, cols, {});
  draw_weights(rng, made);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto x = made.x.row(i);
    const auto dy = made.dy.row(i);
    for (std::size_t j = 0; j + 1 < x.size(); j += 2) {
      x[j] = rng.chance(0.5) ? 1.0f : -1.0f;
      x[j + 1] = -x[j];
    }
    if (x.size() % 2 == 1) x.back() = 0;
    std::ranges::fill(dy, 0.0f);
    for (std::int64_t n = 0; n < cols / 500; ++n)
      dy[static_cast<std::size_t>(rng.integer(0, cols - 1))] = static_cast<float>(rng.normal());
    dy.front() = dy.back() = static_cast<float>(rng.uniform(1, 2));
  }
  return made;
}

float near_1e18(Rng& rng) {
  const auto size = static_cast<float>(rng.integer(64, 110)) * 0x1p53f;
  return rng.chance(0.5) ? size : -size;
}

void give_true_statistics(Problem& problem) {
  const double cols = static_cast<double>(problem.cols);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto row = problem.x.row(i);
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / cols;
    double squares = 0;
    for (const float value : row) squares += (value - mean) * (value - mean);
    problem.mean.push_back(static_cast<float>(mean));
    problem.rstd.push_back(static_cast<float>(1 / std::sqrt(squares / cols + problem.eps)));
  }
}

void give_drawn_statistics(Rng& rng, Problem& problem) {
  problem.mean.clear();
  problem.rstd.clear();
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    problem.mean.push_back(static_cast<float>(rng.uniform(-1, 1)));
    problem.rstd.push_back(static_cast<float>(rng.uniform(0.5, 2)));
  }
}

std::int64_t index_at(Rng& rng, std::string_view place, std::int64_t count) {
  if (place == "first") return 0;
  return place == "last" ? count - 1 : rng.integer(0, count - 1);
}

Problem with_rows(const Problem& problem, const std::vector<std::int64_t>& order) {
  Problem made = blank_problem(std::ssize(order), problem.cols, {});
  made.eps = problem.eps;
  made.gamma = problem.gamma;
  made.beta = problem.beta;
  for (std::int64_t i = 0; i < made.rows; ++i) {
    const std::int64_t from = order[static_cast<std::size_t>(i)];
    std::ranges::copy(problem.x.row(from), made.x.row(i).begin());
    std::ranges::copy(problem.dy.row(from), made.dy.row(i).begin());
    if (problem.mean.empty()) continue;
    made.mean.push_back(problem.mean[static_cast<std::size_t>(from)]);
    made.rstd.push_back(problem.rstd[static_cast<std::size_t>(from)]);
  }
  return made;
}

Problem with_x_stride(const Problem& problem, std::int64_t stride) {
  Problem changed = problem;
  changed.x = Rows(problem.rows, problem.cols, stride, kit::kNan);
  for (std::int64_t i = 0; i < problem.rows; ++i)
    std::ranges::copy(problem.x.row(i), changed.x.row(i).begin());
  return changed;
}

Problem with_columns(const Problem& problem, const std::vector<std::int64_t>& order) {
  Problem changed = problem;
  for (std::size_t j = 0; j < order.size(); ++j) {
    const auto from = static_cast<std::size_t>(order[j]);
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      changed.x.row(i)[j] = problem.x.row(i)[from];
      changed.dy.row(i)[j] = problem.dy.row(i)[from];
    }
    if (!problem.gamma.empty()) changed.gamma[j] = problem.gamma[from];
    if (!problem.beta.empty()) changed.beta[j] = problem.beta[from];
  }
  return changed;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
