// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Makes values as much larger as the score of their key lies below the top: all decide together.
void balance_values(Problem& problem, const std::vector<double>& height) {
  constexpr double kMostBoost = 45;  // beyond, weights underflow in float
  const double top = *std::ranges::max_element(height);
  kit::for_each_row(problem.v, [&](std::span<float> row, auto, auto, auto j) {
    const double below = std::min(top - height[static_cast<std::size_t>(j)], kMostBoost);
    for (float& v : row) v = static_cast<float>(v * std::exp(below));
  });
}

enum class Numbers {
  balanced,        // values are as much larger as their weights are smaller
  largest,         // values are the largest: weights that grow before they are rescaled overflow
  negative_scale,  // the largest product of q and k has the smallest score
};

/// Scores that follow a profile along the keys, each row with its own steepness, so that the row
/// maxima of a tile move apart.
Problem with_profile(Rng& rng, const Sizes& sizes, Profile profile, bool falling, Numbers numbers) {
  Problem problem(sizes);
  if (numbers == Numbers::negative_scale) problem.form.scale = -problem.form.scale;
  fill_scores(problem, rng, 0.7, 1);
  fill_values(problem, rng);
  std::vector<double> height = heights(profile, sizes.k_len, rng);
  if (falling) std::reverse(height.begin(), height.end());
  add_to_scores(
      problem, 0, [&](auto, auto, auto) { return rng.uniform(0.5, 1.5); },
      [&](auto, auto, auto j) { return height[static_cast<std::size_t>(j)]; });
  if (numbers == Numbers::balanced) balance_values(problem, height);
  if (numbers == Numbers::largest) grow_values(problem);
  return problem;
}

/// Queries that leave no lane of a block empty: what a block decides, all of its lanes agree on.
constexpr Sizes kWholeBlocks{1, 1, 1, 128, 700, 8, 8};

/// A few keys at the end of the walk with scores that are higher than all others, which are equal.
std::vector<double> high_end(Rng& rng, bool falling, std::int64_t keys, double high) {
  std::vector<double> height(static_cast<std::size_t>(kWholeBlocks.k_len), 0.0);
  std::fill_n(height.rbegin() + rng.integer(0, 60), keys, high);
  if (falling) std::ranges::reverse(height);
  return height;
}

/// One key's score is a little above those before it: e^5.9 times its value, which is the largest,
/// is beyond float. All rows are alike, so that no other makes a block rescale.
void ask_gentle_step(Probe& probe, bool falling) {
  constexpr double kStep = 5.9;
  constexpr float kLargest = 9.9e35f;
  Rng rng = probe.begin_case(falling ? "first_key_a_step_above" : "last_key_a_step_above");
  Problem problem(kWholeBlocks);
  fill_scores(problem, rng, 0, 1);
  fill_values(problem, rng);
  const std::vector<double> height = high_end(rng, falling, 1, kStep);
  add_to_scores(
      problem, 0, [](auto, auto, auto) { return 1.0; },
      [&](auto, auto, auto j) { return height[static_cast<std::size_t>(j)]; });
  kit::for_each_row(problem.v, [&](std::span<float> row, auto, auto, auto j) {
    if (height[static_cast<std::size_t>(j)] == 0) return;
    for (float& value : row) value = std::copysign(kLargest, value);
  });
  require_right(probe, problem);
}

/// The keys that dominate have no values: o is what the others, of weights near e^-60, make of it.
void ask_quiet_top(Probe& probe, bool falling) {
  constexpr double kTop = 60;  // weights are far above the 1e-30 that the contract forgives
  Rng rng = probe.begin_case(falling ? "first_keys_without_values" : "last_keys_without_values");
  Problem problem(kWholeBlocks);
  fill_scores(problem, rng, 0.7, 1);
  fill_values(problem, rng);
  const std::vector<double> height = high_end(rng, falling, rng.integer(1, 9), kTop);
  add_to_scores(
      problem, 0, [&](auto, auto, auto) { return rng.uniform(1.0, 1.05); },
      [&](auto, auto, auto j) { return height[static_cast<std::size_t>(j)]; });
  kit::for_each_row(problem.v, [&](std::span<float> row, auto, auto, auto j) {
    if (height[static_cast<std::size_t>(j)] > 0) std::ranges::fill(row, 0.0f);
  });
  require_right(probe, problem);
}

void ask_ends(Probe& probe, bool falling) {
  ask_gentle_step(probe, falling);
  ask_quiet_top(probe, falling);
}

/// All profiles on one shape: an answer that is right once and then repeated is wrong.
void ask_profiles(Probe& probe, bool falling) {
  Rng shape = probe.begin_case("shape");
  constexpr std::pair<std::int64_t, Numbers> kKinds[] = {
      {70, Numbers::balanced}, {200, Numbers::largest}, {333, Numbers::negative_scale}};
  for (const auto& [keys, numbers] : kKinds) {
    Sizes sizes;
    sizes.q_heads = sizes.kv_heads = 2;
    sizes.q_len = shape.integer(5, 75);
    sizes.k_len = keys + shape.integer(-6, 6);
    sizes.dim = shape.integer(3, 64);
    sizes.value_dim = shape.integer(3, 64);
    for (const Profile profile : kProfiles) {
      Rng rng = probe.begin_case(fmt::format("{}_near_{}_keys", name_of(profile), keys));
      require_right(probe, with_profile(rng, sizes, profile, falling, numbers));
    }
  }
}

void sharp_scores(Probe& probe) {
  constexpr std::pair<int, int> kShapes[] = {
      {1, 1},    {1, 239},  {3, 799}, {127, 513}, {113, 203}, {108, 256},
      {799, 3},  {239, 1},  {97, 97}, {200, 64},  {31, 128},  {65, 130},
      {17, 257}, {256, 16}, {48, 48}, {511, 96},  {113, 203}, {97, 97}};
  int number = 0;
  for (const auto& [queries, keys] : kShapes) {
    Rng rng = probe.begin_case(fmt::format("{}x{}_number_{}", queries, keys, ++number));
    Sizes sizes;
    sizes.q_len = queries;
    sizes.k_len = keys;
    if (number % 3 == 0 && queries != keys) {  // one beside the shape that everybody tests
      sizes.q_len += rng.integer(0, 2);
      sizes.k_len += rng.integer(-1, 1);
    }
    sizes.batch = rng.integer(1, 2);
    Problem problem(sizes);
    problem.form.causal = queries == keys;
    if (number % 4 == 0) change_scale(problem, rng);
    fill_sharp(problem, rng);
    require_right(probe, problem);
  }
}

void climbing_scores(Probe& probe) {
  ask_profiles(probe, false);
  ask_ends(probe, false);
}

void falling_scores(Probe& probe) {
  ask_profiles(probe, true);
  ask_ends(probe, true);
}

void overflow_ramp(Probe& probe) {
  const Sizes sizes{1, 1, 1, 33, 150 + probe.begin_case("shape").integer(0, 100), 32, 32};
  constexpr double kNear = 44;       // where values make up for small weights, of whole tiles too
  constexpr double kMiddle = 120;    // where the largest values show weights that grow on the way
  constexpr double kFarthest = 1e4;  // where values tell whether a weight of 0 is one
  for (const double climb : {kNear, kMiddle, 200.0, kFarthest})
    for (const bool falling : {false, true})
      for (const bool jump : {false, true}) {
        Rng rng = probe.begin_case(fmt::format("{}_{}_by_{:g}", falling ? "falling" : "climbing",
                                               jump ? "once" : "steadily", climb));
        Problem problem(sizes);
        if (falling == jump) problem.form.scale = -problem.form.scale;
        fill_scores(problem, rng, 1, 1);
        fill_values(problem, rng);
        const std::int64_t edge = rng.integer(sizes.k_len / 3, 2 * sizes.k_len / 3);
        std::vector<double> height;
        for (std::int64_t j = 0; j < sizes.k_len; ++j)
          height.push_back(jump ? (j >= edge ? climb : 0.0)
                                : climb * static_cast<double>(j) /
                                      static_cast<double>(sizes.k_len - 1));
        if (falling) std::ranges::reverse(height);
        add_to_scores(
            problem, 0, [&](auto, auto, auto) { return rng.uniform(1.0, 1.2); },
            [&](auto, auto, auto j) { return height[static_cast<std::size_t>(j)]; });
        if (climb == kNear) balance_values(problem, height);
        if (climb == kMiddle) grow_values(problem);
        if (climb == kFarthest) grow_unweighted(problem, height);
        require_right(probe, problem);
      }
  for (const bool falling : {false, true}) ask_ends(probe, falling);
}

// Every row has three keys far above the rest: one at an end, one in the other half, one anywhere.
// Their values are unlike all others, so that a lost or misplaced key cannot hide.
void needles(Probe& probe) {
  constexpr std::int64_t kPlaces = 12;
  const Sizes sizes{1, 2, 2, 50, 400 + probe.begin_case("shape").integer(-30, 30), 24, 16};
  for (int number = 0; number < 4; ++number) {
    Rng rng = probe.begin_case(fmt::format("needles_{}", number));
    Problem problem(sizes);
    fill_scores(problem, rng, 1, kPlaces);
    fill_values(problem, rng);
    std::vector<std::int64_t> places{0, sizes.k_len - 1};
    while (std::ssize(places) < kPlaces) places.push_back(rng.integer(1, sizes.k_len - 2));
    kit::for_each_row(problem.k, [&](std::span<float> row, auto, auto, auto j) {
      for (std::size_t place = 0; place < places.size(); ++place)
        if (places[place] == j) row[place] = 1;
    });
    kit::for_each_row(problem.q, [&](std::span<float> row, auto, auto, auto) {
      const std::int64_t wanted[] = {rng.integer(0, 1), rng.integer(0, kPlaces - 1),
                                     rng.integer(2, kPlaces - 1)};
      for (int rank = 0; rank < 3; ++rank)
        row[static_cast<std::size_t>(wanted[rank])] =
            static_cast<float>((12.0 + 0.7 * rank) / problem.form.scale);
    });
    kit::for_each_row(problem.v, [&](std::span<float> row, auto, auto, auto j) {
      if (std::find(places.begin(), places.end(), j) == places.end()) return;
      for (float& value : row)
        value = static_cast<float>(rng.uniform(3, 9) * (rng.chance(0.5) ? 1 : -1));
    });
    require_right(probe, problem);
  }
}

}  // namespace

std::vector<Check> values_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"sharp_scores", "tile edges, tails and odd lengths", correctness, 3, critical},
       sharp_scores},
      {{"climbing_scores", "rescaling when the maximum moves on the way to the last key",
        correctness, 4, critical},
       climbing_scores},
      {{"falling_scores", "rescaling when the keys are walked from the last to the first",
        correctness, 4, critical},
       falling_scores},
      {{"overflow_ramp", "weights relative to a maximum that is no longer the largest", correctness,
        3, critical},
       overflow_ramp},
      {{"needles", "a lost or misplaced key in any tile", correctness, 2, critical}, needles},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
