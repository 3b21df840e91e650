// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/inputs.h"
#include "harness/grading/grader.h"
#include "judge.h"
#include "large.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void fill_group(QuantizeProblem& problem, std::size_t index, const std::vector<float>& weights) {
  std::copy(weights.begin(), weights.end(),
            problem.weight.begin() +
                static_cast<std::ptrdiff_t>(index * static_cast<std::size_t>(problem.group)));
}

/// Pairs that straddle: the mean of every pair is the scale, the smaller one is half the scale, or
/// next to it among the floats. Adding and dividing leave the scale exact.
std::vector<float> threshold_group(Rng& rng, std::int64_t group, float scale) {
  std::vector<float> weight;
  while (std::ssize(weight) < group) {
    float small = scale / 2;
    const auto towards = rng.integer(-1, 1);
    if (towards != 0) small = std::nextafter(small, towards < 0 ? 0.0f : scale);
    for (const float size : {small, 2 * scale - scale / 2})
      weight.push_back(rng.chance(0.5) ? size : -size);
  }
  rng.shuffle(weight);
  return weight;
}

float random_half(Rng& rng, int lowest_exponent, int highest_exponent) {
  const double fraction = static_cast<double>(rng.integer(1024, 2047));
  return static_cast<float>(
      std::ldexp(fraction, static_cast<int>(rng.integer(lowest_exponent, highest_exponent)) - 10));
}

/// Of these sizes the reciprocal is no float64, and an exact sum times it lies beside the middle
/// between two halves, where the quotient is the middle, mostly.
std::int64_t odd_group(Rng& rng) {
  return kit::one_of(rng,
                     std::initializer_list<std::int64_t>{196, 364, 392, 396, 412, 420, 468, 492});
}

/// Groups whose mean is the middle between two halves, a little less or a little more: by so little
/// that a float32 sum or quotient does not show it.
std::vector<float> midpoint_group(Rng& rng, std::int64_t group) {
  const float half = random_half(rng, -3, 3);
  const float step = std::ldexp(1.0f, std::ilogb(half) - 11);
  std::vector<float> weight(static_cast<std::size_t>(group), half + step);
  const auto towards = rng.integer(-1, 1);
  if (towards != 0) weight[0] = std::nextafter(weight[0], towards < 0 ? 0.0f : 2 * half);
  for (float& w : weight)
    if (rng.chance(0.5)) w = -w;
  return weight;
}

// The first group is the note's: round() of w / s takes 0.5 for 1.
void half_ties(Probe& probe) {
  probe.begin_case("one_half_of_one");
  require_quantized(probe, {1, 4, 4, {1, 0.5f, -0.5f, 2}});
  for (const std::int64_t group : kGroups) {
    Rng rng = probe.begin_case(fmt::format("groups_of_{}", group));
    QuantizeProblem problem = coarse_matrix(rng, rng.integer(3, 9), rng.integer(1, 4), group);
    for (std::size_t i = 0; i < problem.weight.size() / static_cast<std::size_t>(group); ++i)
      fill_group(problem, i, threshold_group(rng, group, random_half(rng, -8, 4)));
    require_quantized(probe, problem);
  }
}

// Neighbouring groups of a row differ by up to 2^14.
void group_scales(Probe& probe) {
  probe.begin_case("a_hundredth_beside_one");
  require_quantized(probe, {1, 8, 4, {1, 1, 1, 1, 0.01f, 0.01f, 0.01f, 0.01f}});
  for (const std::int64_t group : kGroups) {
    Rng rng = probe.begin_case(fmt::format("groups_of_{}", group));
    QuantizeProblem problem = coarse_matrix(rng, rng.integer(2, 7), rng.integer(2, 6), group);
    for (std::size_t i = 0; i < problem.weight.size() / static_cast<std::size_t>(group); ++i)
      fill_group(
          problem, i,
          coarse_weights(rng, group, std::ldexp(1.0f, static_cast<int>(rng.integer(-17, -3)))));
    require_quantized(probe, problem);
  }
  ask_large_matrices(probe);
}

/// So many that threads share them out, and half of them is no whole number of bytes.
void ask_rows_of_a_byte(Probe& probe) {
  Rng rng = probe.begin_case("an_odd_number_of_bytes");
  const std::int64_t rows = 2 * rng.integer(33'000, 34'000) + 1;
  require_quantized(probe, coarse_matrix(rng, rows, 1, 4));
}

// One group a row; neighbouring rows differ by a thousand and more. More rows than a group has
// columns, and fewer. Rows that are no whole number of groups are not to be had, even where the
// matrix is one.
void quantized_rows_apart(Probe& probe) {
  for (const std::int64_t group : kGroups) {
    Rng rng = probe.begin_case(fmt::format("groups_of_{}", group));
    for (const std::int64_t rows : {std::int64_t{2}, group / 2 + 1, 2 * group + 3}) {
      QuantizeProblem problem = coarse_matrix(rng, rows, 1, group);
      for (std::int64_t row = 0; row < rows; ++row)
        fill_group(problem, static_cast<std::size_t>(row),
                   coarse_weights(rng, group, row % 2 == 0 ? 0x1p-10f : 0x1p-22f));
      require_quantized(probe, problem);
    }
  }
  ask_rows_of_a_byte(probe);
  ask_large_matrices(probe, 20);
  Rng rng = probe.begin_case("a_row_for_each_of_a_hundred_threads");
  CallOptions options;
  options.threads = 100;
  require_quantized(probe, coarse_matrix(rng, 230, 1, 4), options);
  probe.restart();  // threads that idle cost later calls time
  rng = probe.begin_case("rows_of_one_and_a_half_groups");
  const QuantizeProblem problem{96, 96, 64, coarse_weights(rng, 9'216)};
  QuantizeCall call(problem);
  probe.run(call);
  if (call.returned != TERNARY_BAD_ARGUMENT)
    probe.fail(
        fmt::format("96 rows of 96 columns in groups of 64: ternary_quantize returned {}, want {}",
                    call.returned, std::int64_t{TERNARY_BAD_ARGUMENT}));
}

// Zeros of both signs; means that are no half any more, that are subnormal halves, and that are the
// smallest one's middle, or that of any two; subnormal floats.
void tiny_and_zero_groups(Probe& probe) {
  Rng rng = probe.begin_case("listed");
  const std::vector<std::vector<float>> groups{
      {0, 0, 0, 0},
      {0, -0.0f, -0.0f, 0},
      {1e-9f, -1e-9f, 1e-9f, 1e-9f},
      {1e-5f, -1e-5f, 1e-5f, 1e-5f},
      {0x1p-24f, 0, -0x1p-24f, 0},         // mean 2^-25, the tie to zero
      {0x1p-24f, 0, -0x1.000002p-24f, 0},  // a little more: the smallest half
      {0x1p-24f, -0x1p-24f, 0x1p-24f, 0x1p-24f},
      {0x1p-24f, -0x3p-24f, -0x1p-24f, 0x3p-24f},  // two are half the scale
      {0x1p-14f, 0x1p-15f, -0x1p-14f, 0x1p-15f},
      {1e-40f, -1e-40f, 1e-44f, 0},
      {3e-5f, -1e-8f, 0, 2e-5f},
      {0, 0, 0, 1},
  };
  QuantizeProblem problem{std::ssize(groups), 4, 4, std::vector<float>(4 * groups.size())};
  for (std::size_t i = 0; i < groups.size(); ++i) fill_group(problem, i, groups[i]);
  require_quantized(probe, problem);
  for (const std::int64_t group : {12, 128}) {
    rng = probe.begin_case(fmt::format("groups_of_{}", group));
    problem = coarse_matrix(rng, 40, 3, group);
    for (std::size_t i = 0; i < 120; ++i) {
      const bool zero = rng.chance(0.3);
      const int exponent = static_cast<int>(rng.integer(-40, -20));
      fill_group(
          problem, i,
          zero ? std::vector<float>(static_cast<std::size_t>(group), rng.chance(0.5) ? 0.0f : -0.0f)
               : coarse_weights(rng, group, std::ldexp(1.0f, exponent)));
    }
    require_quantized(probe, problem);
  }
  rng = probe.begin_case("midpoints_of_subnormal_halves");
  const std::int64_t odd = odd_group(rng);
  problem = coarse_matrix(rng, 8, 4, odd);
  for (std::size_t i = 0; i < 32; ++i) {
    const auto middle = static_cast<float>(2 * rng.integer(0, 1022) + 1) * 0x1p-25F;
    fill_group(problem, i, std::vector<float>(static_cast<std::size_t>(odd), middle));
  }
  require_quantized(probe, problem);
}

// Asked twice, the second time with every sign turned: codes turn, scales stay. A group of one sign
// only comes with it.
void signs(Probe& probe) {
  for (const std::int64_t group : {4, 64, 128}) {
    Rng rng = probe.begin_case(fmt::format("groups_of_{}", group));
    QuantizeProblem problem = coarse_matrix(rng, rng.integer(4, 12), rng.integer(1, 4), group);
    for (std::size_t i = 0; i < static_cast<std::size_t>(group); ++i)
      problem.weight[i] = -std::abs(problem.weight[i]);
    require_quantized(probe, problem);
    for (float& w : problem.weight) w = -w;
    require_quantized(probe, problem);
  }
}

void mean_rounding(Probe& probe) {
  for (const std::int64_t group : {4, 12, 64, 128, 384}) {
    Rng rng = probe.begin_case(fmt::format("midpoints_{}", group));
    QuantizeProblem problem = coarse_matrix(rng, 16, 4, group);
    for (std::size_t i = 0; i < 64; ++i) fill_group(problem, i, midpoint_group(rng, group));
    require_quantized(probe, problem);
  }
  Rng rng = probe.begin_case("midpoints_of_odd_groups");
  const std::int64_t odd = odd_group(rng);
  QuantizeProblem midpoints = coarse_matrix(rng, 16, 4, odd);
  for (std::size_t i = 0; i < 64; ++i) fill_group(midpoints, i, midpoint_group(rng, odd));
  require_quantized(probe, midpoints);
  probe.begin_case("the_largest_half");
  const float below_infinity = std::nextafter(65520.0f, 0.0f);
  require_quantized(probe, {1, 4, 4, std::vector<float>(4, below_infinity)});
  // Full mantissas: of 16,384 means, a float32 sum rounds several to the wrong half.
  // Three threads that share them out cut a group, and a byte of codes, in two.
  rng = probe.begin_case("full_mantissas");
  CallOptions options;
  options.threads = 3;
  require_quantized(probe, fine_matrix(rng, 512, 32, 128), options);
  refuse_large_matrices(probe);
}

// What was ternary stays so; the scale shrinks by the share of zeros.
void quantized_again(Probe& probe) {
  probe.begin_case("two_of_four");
  require_quantized(probe, {1, 4, 4, {1, 0.4f, -1, 0.1f}});
  require_quantized(probe, {1, 4, 4, {0.625f, 0, -0.625f, 0}});
  for (const std::int64_t group : kGroups) {
    Rng rng = probe.begin_case(fmt::format("groups_of_{}", group));
    QuantizeProblem problem = coarse_matrix(rng, 5, 3, group);
    for (std::size_t i = 0; i < 15; ++i) {
      std::vector<float> weights;
      const float scale = random_half(rng, -6, 2);
      for (std::int64_t j = 0; j < group; ++j)
        weights.push_back(scale * static_cast<float>(rng.integer(-1, 1)));
      fill_group(problem, i, weights);
    }
    require_quantized(probe, problem);
  }
}

}  // namespace

std::vector<Check> quantizer_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"half_ties", "weights at half a scale: rounded up, or another threshold", correctness, 2,
        critical},
       half_ties},
      {{"group_scales", "one scale for a row or a matrix", correctness, 2, critical}, group_scales},
      {{"quantized_rows_apart", "groups that run across rows or down columns", correctness, 2,
        critical},
       quantized_rows_apart},
      {{"tiny_and_zero_groups", "groups of zeros, means below the smallest half", correctness, 1,
        critical},
       tiny_and_zero_groups},
      {{"mean_rounding", "means rounded twice, or summed in float32", correctness, 1, major},
       mean_rounding},
      {{"signs", "signs that get into the scale", correctness, 1, major}, signs},
      {{"quantized_again", "matrices that are ternary already", correctness, 1, major},
       quantized_again},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
