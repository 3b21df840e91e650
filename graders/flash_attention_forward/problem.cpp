// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <cmath>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void fill_normal(kit::Tensor& tensor, Rng& rng, double deviation, std::int64_t first_dim) {
  kit::for_each_row(tensor, [&](std::span<float> row, auto, auto, auto) {
    std::int64_t d = 0;
    for (float& number : row)
      number = d++ < first_dim ? 0.0f : static_cast<float>(deviation * rng.normal());
  });
}

float largest_value(const Problem& problem) {
  float largest = 0;
  for (const float value : problem.v.data) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

Problem::Problem(const Sizes& sizes)
    : form(kit::with_sizes(sizes)),
      q({sizes.batch, sizes.q_heads, sizes.q_len, sizes.dim}),
      k({sizes.batch, sizes.kv_heads, sizes.k_len, sizes.dim}),
      v({sizes.batch, sizes.kv_heads, sizes.k_len, sizes.value_dim}) {}

kit::AttentionProblem Problem::view() const {
  kit::AttentionProblem view = form;
  view.q = q.view();
  view.k = k.view();
  view.v = v.view();
  return view;
}

void fill_values(Problem& problem, Rng& rng) {
  const double shift = rng.uniform(-1, 1);
  kit::for_each_row(problem.v, [&](std::span<float> row, auto b, auto h, auto) {
    const double offset = shift + 0.3 * static_cast<double>(h) - 0.7 * static_cast<double>(b);
    for (float& value : row) value = static_cast<float>(rng.normal() + offset);
  });
}

void grow_values(Problem& problem) {
  constexpr double kMost = 9e35;
  const double factor = kMost / largest_value(problem) / static_cast<double>(problem.form.k_len);
  for (float& value : problem.v.data) value = static_cast<float>(value * factor);
}

void grow_unweighted(Problem& problem, const std::vector<double>& heights) {
  constexpr double kMost = 1e35;
  constexpr double kUnweighted = 115;  // exp(-104) is the least that float32 holds
  const double top = *std::ranges::max_element(heights);
  const double factor = kMost / largest_value(problem) / static_cast<double>(problem.form.k_len);
  kit::for_each_row(problem.v, [&](std::span<float> row, auto, auto, auto j) {
    if (top - heights[static_cast<std::size_t>(j)] < kUnweighted) return;
    for (float& value : row) value = static_cast<float>(value * factor);
  });
}

void fill_scores(Problem& problem, Rng& rng, double deviation, std::int64_t first_dim) {
  const double dims = static_cast<double>(std::max<std::int64_t>(1, problem.form.dim - first_dim));
  const double size = problem.form.scale == 0 ? 1 : std::abs(problem.form.scale);
  fill_normal(problem.q, rng, deviation / (size * std::sqrt(dims)), first_dim);
  fill_normal(problem.k, rng, 1, first_dim);
}

void fill_sharp(Problem& problem, Rng& rng) {
  fill_scores(problem, rng, 3.5);
  fill_values(problem, rng);
}

void fill_repeating(Problem& problem, Rng& rng) {
  constexpr std::size_t kDrawn = 4099;  // a prime: no rows are alike for long
  constexpr float kSharp = 3.5f;
  for (kit::Tensor* tensor : {&problem.q, &problem.k, &problem.v}) {
    std::vector<float>& data = tensor->data;
    for (std::size_t n = 0; n < data.size(); ++n)
      data[n] = n < kDrawn ? static_cast<float>(rng.normal()) : data[n - kDrawn];
  }
  for (float& q : problem.q.data) q *= kSharp;
}

void add_to_scores(Problem& problem, std::int64_t dim, const RowNumber& query_part,
                   const RowNumber& key_part) {
  const auto column = static_cast<std::size_t>(dim);
  kit::for_each_row(problem.q, [&](std::span<float> row, auto b, auto h, auto i) {
    row[column] = static_cast<float>(query_part(b, h, i) / problem.form.scale);
  });
  kit::for_each_row(problem.k, [&](std::span<float> row, auto b, auto h, auto j) {
    row[column] = static_cast<float>(key_part(b, h, j));
  });
}

void change_scale(Problem& problem, Rng& rng) {
  // A float, as in the contract: the oracle must use the same number.
  problem.form.scale = static_cast<float>(problem.form.scale * rng.uniform(0.5, 2));
}

void fill_one_hot_values(Problem& problem) {
  kit::for_each_row(problem.v, [](std::span<float> row, auto, auto, auto j) {
    std::ranges::fill(row, 0.0f);
    row[static_cast<std::size_t>(j) % row.size()] = 1;
  });
}

const char* name_of(Profile profile) {
  switch (profile) {
    case Profile::gentle_ramp:
      return "gentle ramp";
    case Profile::steep_ramp:
      return "steep ramp";
    case Profile::stairs:
      return "stairs";
    case Profile::last_spike:
      return "one spike";
  }
  return "";
}

std::vector<double> heights(Profile profile, std::int64_t keys, Rng& rng) {
  std::vector<double> height(static_cast<std::size_t>(keys), 0.0);
  const double total = rng.uniform(20, 60);
  for (std::int64_t j = 1; j < keys; ++j) {
    double step = 0;
    switch (profile) {
      case Profile::gentle_ramp:
        step = total / static_cast<double>(keys);
        break;
      case Profile::steep_ramp:
        step = rng.uniform(0.6, 1.4);
        break;
      case Profile::stairs:
        step = rng.chance(0.03) ? rng.uniform(8, 25) : 0;
        break;
      case Profile::last_spike:
        step = j == keys - 1 ? rng.uniform(15, 25) : 0;
        break;
    }
    height[static_cast<std::size_t>(j)] = height[static_cast<std::size_t>(j - 1)] + step;
  }
  return height;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
