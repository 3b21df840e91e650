// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// All scores around `level`, with noise that still tells the keys apart where float allows it. Far
/// out the bound on o forgives nearly every number, but no NaN, and that on lse still names the
/// level.
Problem around_level(Rng& rng, const Sizes& sizes, double level) {
  Problem problem(sizes);
  fill_scores(problem, rng, 2, 1);
  fill_values(problem, rng);
  const double root = std::sqrt(std::abs(level));
  add_to_scores(
      problem, 0, [&](auto, auto, auto) { return root; },
      [&](auto, auto, auto) { return std::copysign(root, level); });
  return problem;
}

// Weights of the first level are subnormal where nobody subtracts the maximum, and of the others 0.
void very_negative_scores(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  const std::int64_t length = shape.integer(50, 120);
  const Sizes sizes{1, 1, 1, length, length, shape.integer(8, 40), 20};
  // Of few keys some take a bound for the maximum, of which the products are the opposite here.
  Sizes few = sizes;
  for (const double level : {-102.0, -120.0, -200.0, -1.5e4, -6e4, -2.5e5, -1e30})
    for (const std::string_view kind : {"", "_causal", "_of_few_keys"}) {
      Rng rng = probe.begin_case(fmt::format("at_{:g}{}", level, kind));
      few.k_len = rng.integer(1, 16);
      const bool causal = kind == "_causal";
      Problem problem = around_level(rng, kind == "_of_few_keys" ? few : sizes, level);
      problem.form.causal = causal;
      if (causal) problem.form.window_left = rng.integer(3, 12);
      require_right(probe, problem);
    }
}

// Half of the values are nearly 1e36 in all, beside which the others are next to nothing. Rows see
// one of the halves, or some keys of the large one. The halves meet at an odd key, and so do the
// first rows that see another one: within a block, wherever blocks of queries begin.
void ask_unseen_values(Probe& probe) {
  for (const bool past : {false, true}) {
    constexpr double kInAll = 9e35;
    constexpr double kSmall = 1e-6;
    Rng rng = probe.begin_case(past ? "values_of_the_past" : "values_of_the_future");
    const std::int64_t edge = 2 * rng.integer(40, 60) + 1;
    Problem problem({1, 1, 1, 2 * edge, 2 * edge, 16, 16});
    fill_scores(problem, rng, 1.5);
    kit::for_each_row(problem.v, [&](std::span<float> row, auto, auto, auto j) {
      const double most = (j < edge) == past ? kInAll / static_cast<double>(edge) : kSmall;
      for (float& value : row) value = static_cast<float>(rng.uniform(-1, 1) * most);
    });
    problem.form.causal = !past;
    if (past) problem.form.window_left = 2 * rng.integer(0, 10);
    require_right(probe, problem);
  }
}

// Flights of stairs: whoever looks past its mask meets keys that are 150 higher than what it may
// see.
void large_masked_scores(Probe& probe) {
  const std::int64_t length = 180 + probe.begin_case("shape").integer(0, 40);
  for (const char* kind : {"future", "past", "padding"})
    for (const double step : {60.0, 150.0}) {
      Rng rng = probe.begin_case(fmt::format("large_{}_{:g}", kind, step));
      Problem problem({1, 1, 1, length, length, 16, 16});
      fill_scores(problem, rng, 1.5, 1);
      fill_values(problem, rng);
      std::vector<double> height(1, 0.0);
      while (std::ssize(height) < length)
        height.push_back(height.back() + (rng.chance(0.06) ? step : 0));
      const bool past = kind == std::string("past");
      add_to_scores(
          problem, 0, [&](auto, auto, auto) { return 1.0; },
          [&](auto, auto, auto j) {
            return height[static_cast<std::size_t>(past ? length - 1 - j : j)];
          });
      problem.form.causal = !past;
      if (past) problem.form.window_left = rng.integer(0, 20);
      if (kind == std::string("padding")) {
        problem.form.causal = false;
        problem.form.kv_len = {static_cast<std::int32_t>(length - rng.integer(9, 60))};
      }
      require_right(probe, problem);
    }
  ask_unseen_values(probe);
}

void negative_tail(Probe& probe) {
  for (int number = 0; number < 10; ++number) {
    Rng rng = probe.begin_case(fmt::format("tail_{}", number));
    Sizes sizes;
    sizes.q_len = rng.integer(1, 40);
    sizes.k_len = number < 2 ? 77 : rng.integer(1, 300);
    if (sizes.k_len % 16 == 0) ++sizes.k_len;
    sizes.dim = sizes.value_dim = 16;
    Problem problem(sizes);
    fill_scores(problem, rng, 1, 1);
    fill_values(problem, rng);
    const double depth = number % 2 == 0 ? rng.uniform(10, 60) : rng.uniform(110, 160);
    add_to_scores(
        problem, 0, [&](auto, auto, auto) { return -depth; },
        [&](auto, auto, auto) { return 1.0; });
    require_right(probe, problem);
  }
}

// Sums of 10^5 terms near 1: 16-bit accumulators stand still at 256 or 2048.
void long_uniform(Probe& probe) {
  for (const std::int64_t keys : {65536, 20000, 65536}) {
    const bool again = probe.observation().cases == 2;
    Rng rng = probe.begin_case(fmt::format("near_{}_keys{}", keys, again ? "_again" : ""));
    Problem problem({1, 1, 1, 3, keys + (keys == 65536 ? 37 : rng.integer(-9, 9)), 4, 5});
    fill_scores(problem, rng, 0.2);
    fill_values(problem, rng);
    for (float& value : problem.v.data) value += 2;
    require_right(probe, problem);
  }
}

// A tolerance taken from the largest output would forgive everything in the small heads.
void head_magnitudes(Probe& probe) {
  const Sizes sizes{1, 9, 9, 40, 90 + probe.begin_case("shape").integer(0, 40), 24, 24};
  for (const bool large_first : {false, true}) {
    Rng rng = probe.begin_case(large_first ? "large_first" : "large_last");
    Problem problem(sizes);
    fill_sharp(problem, rng);
    const auto magnitude = [&](std::int64_t head) {
      const auto step = static_cast<double>(large_first ? sizes.q_heads - 1 - head : head);
      return std::pow(10.0, step - 4);
    };
    kit::for_each_row(problem.v, [&](std::span<float> row, auto, auto h, auto) {
      for (float& v : row) v = static_cast<float>(v * magnitude(h));
    });
    kit::for_each_row(problem.q, [&](std::span<float> row, auto, auto h, auto) {
      for (float& q : row) q = static_cast<float>(q * std::min(1.0, 100 * magnitude(h)));
    });
    require_right(probe, problem);
  }
}

}  // namespace

std::vector<Check> magnitudes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"very_negative_scores", "finite stand-ins for -infinity, maxima that start at 0",
        correctness, 3, critical},
       very_negative_scores},
      {{"large_masked_scores", "masks applied after the maximum, or by a finite penalty",
        correctness, 3, critical},
       large_masked_scores},
      {{"negative_tail", "padding keys of score 0 in the last tile", correctness, 2, critical},
       negative_tail},
      {{"head_magnitudes", "absolute errors that drown a small head", correctness, 2, critical},
       head_magnitudes},
      {{"long_uniform", "sums of 10^5 terms in short accumulators", correctness, 1, major},
       long_uniform},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
