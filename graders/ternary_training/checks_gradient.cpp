// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "judge.h"
#include "large.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct LayerShape {
  std::int64_t rows, groups, group, count;
};

// Sums of at most 400 terms: a tolerance that grows with them must still tell float32 from less.
constexpr LayerShape kLayerShapes[] = {{1, 1, 4, 1},    {7, 3, 4, 5},     {33, 2, 64, 3},
                                       {16, 5, 12, 50}, {128, 1, 128, 9}, {96, 3, 128, 17},
                                       {259, 1, 12, 2}};

/// All sizes a little beyond a multiple of 128: whoever takes tiles of any size has something left
/// of each, and of rows and vectors one or a few.
LayerShape shape_of_tails(Rng& rng) {
  return {128 + 2 * rng.integer(0, 7) + 1, 11, 12, 64 * rng.integer(1, 2) + 1};
}

void multiply(std::vector<float>& values, float factor) {
  for (float& value : values) value *= factor;
}

/// A layer like that of a trained model; some groups zero, one all small but not zero.
LinearProblem trained_layer(Rng& rng, const LayerShape& shape) {
  LinearProblem problem = linear_problem(rng, shape.rows, shape.groups, shape.group, shape.count);
  const auto group = static_cast<std::size_t>(shape.group);
  for (std::size_t begin = 0; begin < problem.weight.size(); begin += group) {
    const float factor =
        rng.chance(0.1) ? 0 : std::ldexp(1.0f, static_cast<int>(rng.integer(-7, 1)));
    for (std::size_t i = begin; i < begin + group; ++i) problem.weight[i] *= factor;
  }
  return problem;
}

constexpr std::int64_t kLoud = 64;

/// Zeros but in the first and the last of `count` adjacent parts of equal size.
void silence(std::vector<float>& values, std::int64_t count) {
  const std::int64_t size = std::ssize(values) / count;
  std::fill_n(values.begin() + kLoud / 2 * size, (count - kLoud) * size, 0.0f);
}

/// More columns, groups of a row, rows or vectors than 16 bits count. All terms but those of the
/// first and the last ones are zeros: a tolerance of as many terms as there are would hide what
/// becomes of these. Each result has 2^18 numbers in some case, and may be written in another way
/// than smaller ones are: none starts where a vector of them does.
void ask_beyond_16_bits(Probe& probe, Part part) {
  constexpr std::int64_t kMany = 65'536 + kLoud;
  CallOptions options;
  options.placement = {16, 4};
  Rng rng = probe.begin_case("beyond_65536_columns");
  LinearProblem problem = linear_problem(rng, 2, kMany / 32, 32, 1);
  silence(problem.x, kMany);
  require_gradient(probe, problem, part, options);
  rng = probe.begin_case("beyond_65536_groups");
  problem = linear_problem(rng, 5, kMany, 4, 1);
  silence(problem.x, kMany);
  require_gradient(probe, problem, part, options);
  rng = probe.begin_case("beyond_65536_rows");
  problem = linear_problem(rng, kMany, 1, 4, 1);
  silence(problem.output_gradient, kMany);
  require_gradient(probe, problem, part, options);
  rng = probe.begin_case("beyond_65536_vectors");
  problem = linear_problem(rng, 4, 1, 4, kMany);
  silence(problem.x, kMany);
  require_gradient(probe, problem, part, options);
}

/// Inputs of which two have a sum beyond the floats, while all products with weights so small, and
/// with gradients so small, are far from there in any order.
void ask_largest_inputs(Probe& probe) {
  for (const std::int64_t count : {1, 3}) {
    Rng rng = probe.begin_case(fmt::format("largest_inputs_of_{}", count));
    LinearProblem problem = linear_problem(rng, rng.integer(5, 9), 2, 32, count);
    multiply(problem.weight, 0x1p-10F);
    multiply(problem.output_gradient, 0x1p-20F);
    for (float& x : problem.x)
      x = static_cast<float>(rng.uniform(0.7, 1)) * (rng.chance(0.5) ? 0x1p127F : -0x1p127F);
    require_layer(probe, problem);
  }
}

void ask_all_shapes(Probe& probe, Part part) {
  for (const LayerShape& shape : kLayerShapes) {
    Rng rng = probe.begin_case(
        fmt::format("{}x{}x{}_{}_vectors", shape.rows, shape.groups, shape.group, shape.count));
    require_gradient(probe, trained_layer(rng, shape), part);
  }
  Rng shapes = probe.begin_case("tails_of_tiles");
  require_gradient(probe, trained_layer(shapes, shape_of_tails(shapes)), part);
  ask_beyond_16_bits(probe, part);
  ask_largest_inputs(probe);
  // A row and a vector for each of a hundred threads.
  Rng rng = probe.begin_case("a_hundred_threads");
  CallOptions options;
  options.threads = 100;
  require_gradient(probe, linear_problem(rng, 130, 1, 8, 140), part, options);
  probe.restart();  // threads that idle cost later calls time
}

void layer_output(Probe& probe) {
  ask_all_shapes(probe, Part::y);
  ask_large_layers(probe);
}

void input_gradient(Probe& probe) {
  ask_all_shapes(probe, Part::input_gradient);
}

void weight_gradient(Probe& probe) {
  ask_all_shapes(probe, Part::weight_gradient);
  // Each of very many threads may have vectors of its own.
  Rng rng = probe.begin_case("very_many_threads");
  CallOptions options;
  options.threads = kit::kManyThreads;
  require_gradient(probe, linear_problem(rng, 5, 1, 8, 1'100), Part::weight_gradient, options);
  probe.restart();  // threads that idle cost later calls time
  ask_sizes_of_large_layers(probe);
}

// Weights far from the threshold, on both sides: the estimator passes their gradient on.
void gradient_of_far_weights(Probe& probe) {
  for (const float factor : {0x1p-12f, 1.0f, 4.0f, 1024.0f}) {
    Rng rng = probe.begin_case(fmt::format("times_{}", factor));
    LinearProblem problem = linear_problem(rng, 24, 3, 32, 11);
    multiply(problem.weight, factor);
    for (std::size_t i = 0; i < 32; ++i) problem.weight[i] = 0;
    for (std::size_t i = 32; i < 64; ++i) problem.weight[i] = 0x1p-9f * factor;
    problem.weight[32] = 16 * factor;  // the others of its group become zeros
    require_gradient(probe, problem, Part::weight_gradient);
    require_gradient(probe, problem, Part::input_gradient);
  }
  // So many vectors that whoever takes them by tiles takes several.
  Rng rng = probe.begin_case("many_vectors");
  LinearProblem problem = linear_problem(rng, 3, 1, 4, rng.integer(20'000, 21'000));
  multiply(problem.weight, 4);
  for (float& x : problem.x) x = std::abs(x);  // none of the sums is next to nothing
  for (float& dy : problem.output_gradient) dy = std::abs(dy);
  require_gradient(probe, problem, Part::weight_gradient);
}

// A weight counts by its code and its group's scale alone: moved within its code's range, with the
// group's mean kept, it changes neither y nor the gradients.
void latent_weights_hidden(Probe& probe) {
  for (const std::int64_t group : {4, 64, 128}) {
    Rng rng = probe.begin_case(fmt::format("groups_of_{}", group));
    LinearProblem problem = linear_problem(rng, 20, 2, group, 6);
    // Pairs around the mean: 1 + d and 1 - d, with d up to 0.375.
    for (std::size_t i = 0; i < problem.weight.size(); i += 2) {
      const auto d = static_cast<float>(rng.integer(0, 384)) / 1024;
      problem.weight[i] = rng.chance(0.5) ? 1 + d : -1 - d;
      problem.weight[i + 1] = rng.chance(0.5) ? 1 - d : d - 1;
    }
    require_gradient(probe, problem, Part::y);
    require_gradient(probe, problem, Part::input_gradient);
  }
}

}  // namespace

std::vector<Check> gradient_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"layer_output", "y of other weights than the quantised ones", correctness, 2, critical},
       layer_output},
      {{"input_gradient", "input gradients of other weights than the quantised ones", correctness,
        2, critical},
       input_gradient},
      {{"weight_gradient", "weight gradients masked, scaled or taken through the quantiser",
        correctness, 2, critical},
       weight_gradient},
      {{"gradient_of_far_weights", "gradients clipped away from weights far from the threshold",
        correctness, 1, critical},
       gradient_of_far_weights},
      {{"latent_weights_hidden", "latent weights that shine through", correctness, 1, major},
       latent_weights_hidden},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
