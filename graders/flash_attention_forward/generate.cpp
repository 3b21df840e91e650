#include "generate.h"

#include <algorithm>
#include <cmath>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void fill_normal(Tensor& tensor, Rng& rng, double deviation, std::int64_t first_dim) {
  for_each_row(tensor, [&](float* row, std::int64_t, std::int64_t, std::int64_t) {
    for (std::int64_t d = 0; d < tensor.dim; ++d)
      row[d] = d < first_dim ? 0.0f : static_cast<float>(deviation * rng.normal());
  });
}

}  // namespace

void fill_values(Problem& problem, Rng& rng) {
  const double shift = rng.uniform(-1, 1);
  for_each_row(problem.v, [&](float* row, std::int64_t b, std::int64_t h, std::int64_t) {
    const double offset = shift + 0.3 * static_cast<double>(h) - 0.7 * static_cast<double>(b);
    for (std::int64_t d = 0; d < problem.v.dim; ++d)
      row[d] = static_cast<float>(rng.normal() + offset);
  });
}

void fill_scores(Problem& problem, Rng& rng, double deviation, std::int64_t first_dim) {
  const double dims = static_cast<double>(std::max<std::int64_t>(1, problem.sizes.dim - first_dim));
  const double size = problem.scale == 0 ? 1 : std::abs(static_cast<double>(problem.scale));
  fill_normal(problem.q, rng, deviation / (size * std::sqrt(dims)), first_dim);
  fill_normal(problem.k, rng, 1, first_dim);
}

void fill_sharp(Problem& problem, Rng& rng) {
  fill_scores(problem, rng, 3.5);
  fill_values(problem, rng);
}

void add_to_scores(Problem& problem, std::int64_t dim, const RowNumber& query_part,
                   const RowNumber& key_part) {
  for_each_row(problem.q, [&](float* row, std::int64_t b, std::int64_t h, std::int64_t n) {
    row[dim] = static_cast<float>(query_part(b, h, n) / static_cast<double>(problem.scale));
  });
  for_each_row(problem.k, [&](float* row, std::int64_t b, std::int64_t h, std::int64_t n) {
    row[dim] = static_cast<float>(key_part(b, h, n));
  });
}

void fill_one_hot_values(Problem& problem) {
  for_each_row(problem.v, [&](float* row, std::int64_t, std::int64_t, std::int64_t n) {
    std::fill_n(row, problem.v.dim, 0.0f);
    row[n % problem.v.dim] = 1;
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
