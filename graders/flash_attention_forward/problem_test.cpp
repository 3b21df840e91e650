// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

constexpr Sizes kSizes{2, 4, 2, 5, 300, 32, 7};

}  // namespace

// Flat scores hide most faults: the mean of the values would pass.
TEST_CASE("sharp scores have the deviation that makes a softmax peaked") {
  Rng rng(4);
  Problem problem(kSizes);
  problem.form.scale = -0.02f;
  fill_sharp(problem, rng);
  double squares = 0;
  double count = 0;
  kit::AttentionRow row;
  for (std::int64_t i = 0; i < 5; ++i) {
    kit::attention_row(problem.view(), 1, 2, i, row);
    for (const double score : row.scores) squares += score * score;
    count += static_cast<double>(row.scores.size());
  }
  CHECK(std::sqrt(squares / count) > 2);
  CHECK(std::sqrt(squares / count) < 5);
}

// A wrong rescaling is invisible where the maximum does not move after the first tile. Ascending
// profiles move it for a walk from the first key, the reversed ones for a walk from the last.
TEST_CASE("every profile climbs by at least 8 after the first 64 keys") {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const Profile profile : kProfiles) {
      CAPTURE(name_of(profile));
      Rng rng(seed);
      const std::vector<double> height = heights(profile, 333, rng);
      REQUIRE(height.size() == 333);
      CHECK(std::is_sorted(height.begin(), height.end()));
      CHECK(height.front() == 0);
      CHECK(height.back() - height[63] >= 8);
    }
}

// Just below what the contract allows: float has no room for 400 times as much.
TEST_CASE(
    "grown values stay below 1e36, summed over the keys, also when all keys are the largest") {
  Rng rng(6);
  Problem problem(kSizes);
  fill_values(problem, rng);
  grow_values(problem);
  double largest = 0;
  for (const float value : problem.v.data)
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  CHECK(largest * 300 < 1e36);
  CHECK(largest * 300 > 8e35);
}

TEST_CASE("values grow where their keys have no weight, and nowhere else") {
  Rng rng(7);
  Problem problem(kSizes);
  fill_values(problem, rng);
  const Problem before = problem;
  std::vector<double> height(300, 0.0);
  height[200] = 1e3;
  height[201] = 1e3 - 100;
  grow_unweighted(problem, height);
  double sum = 0;
  for (std::int64_t j = 0; j < 300; ++j) {
    const double value = problem.v.row(1, 1, j)[3];
    const bool same = value == before.v.row(1, 1, j)[3];
    CHECK(same == (j == 200 || j == 201));
    sum += std::abs(value);
  }
  CHECK(sum > 1e34);
  CHECK(sum < 1.01e35);
}

TEST_CASE("a feature adds exactly its product to the scores") {
  Rng rng(5);
  Problem problem(kSizes);
  fill_scores(problem, rng, 0, 32);
  add_to_scores(
      problem, 3, [](auto, auto, auto i) { return static_cast<double>(i + 1); },
      [](auto, auto, auto j) { return static_cast<double>(j); });
  kit::AttentionRow row;
  kit::attention_row(problem.view(), 0, 0, 2, row);
  CHECK(row.scores.at(10) == doctest::Approx(30));
}

TEST_CASE("one-hot values name their key") {
  Problem problem(kSizes);
  fill_one_hot_values(problem);
  CHECK(problem.v.row(1, 1, 9)[2] == 1);
  CHECK(std::count(problem.v.row(1, 1, 9), problem.v.row(1, 1, 9) + 7, 0.0f) == 6);
}
