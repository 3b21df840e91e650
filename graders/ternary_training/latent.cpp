#include "latent.h"

#include <algorithm>
#include <cmath>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

std::vector<float> normal_values(Rng& rng, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.normal()));
  return values;
}

}  // namespace

std::vector<float> coarse_weights(Rng& rng, std::int64_t count, float unit) {
  std::vector<float> weight;
  for (std::int64_t i = 0; i < count; ++i)
    weight.push_back(unit *
                     static_cast<float>(std::round(std::clamp(rng.normal(), -3.9, 3.9) * 1024)));
  return weight;
}

QuantizeProblem coarse_matrix(Rng& rng, std::int64_t rows, std::int64_t groups,
                              std::int64_t group) {
  return {rows, groups * group, group, coarse_weights(rng, rows * groups * group)};
}

QuantizeProblem fine_matrix(Rng& rng, std::int64_t rows, std::int64_t groups, std::int64_t group) {
  QuantizeProblem problem{rows, groups * group, group, {}};
  for (std::int64_t i = 0; i < rows * problem.columns; ++i)
    problem.weight.push_back(static_cast<float>(rng.uniform(-1, 1)));
  return problem;
}

LinearProblem linear_problem(Rng& rng, std::int64_t rows, std::int64_t groups, std::int64_t group,
                             std::int64_t count) {
  LinearProblem problem{rows, groups * group, group, count, {}, {}, {}};
  problem.weight = coarse_weights(rng, rows * problem.columns);
  problem.x = normal_values(rng, count * problem.columns);
  problem.output_gradient = normal_values(rng, count * rows);
  return problem;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
