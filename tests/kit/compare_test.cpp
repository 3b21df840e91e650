// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/compare.h"

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "graders/kit/bits.h"
#include "harness/core/error.h"

using namespace gauntlet;
using namespace gauntlet::kit;

namespace {
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
const IndexNamer kName = index_namer("y", {2, 3});

std::optional<Miss> compare(std::vector<float> got, std::vector<double> want, double allowed) {
  const std::vector<double> tolerance(want.size(), allowed);
  return worst_miss(std::span<const float>(got), want, tolerance, kName);
}
}  // namespace

TEST_CASE("elements are named by their indices, outermost first") {
  CHECK(kName(0) == "y[0][0]");
  CHECK(kName(5) == "y[1][2]");
  CHECK(index_namer("z", {0, 0})(0) == "z[0][0]");
}

// The classical hole: "fail if error > tolerance" lets NaN through.
TEST_CASE("a NaN never passes for a number, and a number never for a NaN") {
  CHECK_FALSE(within(1, kNan, kInf));
  CHECK_FALSE(within(std::nan(""), 1, kInf));
  CHECK(within(std::nan(""), kNan, 0));
  CHECK(compare({kNan}, {1}, 1e30).has_value());
}

TEST_CASE("a wanted infinity asks for that infinity") {
  CHECK(within(kInf, kInf, 0));
  CHECK_FALSE(within(kInf, -kInf, kInf));
  CHECK_FALSE(within(kInf, 3e38, 1e38));
  CHECK_FALSE(within(0, kInf, 1e300));
}

TEST_CASE("the tolerance is inclusive and nothing beyond it passes") {
  CHECK_FALSE(compare({1.5f}, {1.0}, 0.5).has_value());
  CHECK(compare({1.5f}, {1.0}, 0.49).has_value());
  CHECK_FALSE(within(1, 1, 0) == false);
}

TEST_CASE("the worst element is reported, with how many miss") {
  const auto miss = compare({1, 9, 3, 5, 5, 5}, {1, 2, 3, 4, 5, 6}, 0.5);
  REQUIRE(miss);
  CHECK(miss->where == "y[0][1]");
  CHECK(miss->got == 9);
  CHECK(miss->count == 3);
  CHECK(miss->of == 6);
}

TEST_CASE("one NaN outranks any finite error") {
  const auto miss = compare({100, kNan}, {0, 0}, 0.5);
  REQUIRE(miss);
  CHECK(std::isnan(miss->got));
}

TEST_CASE("arrays of different sizes are our own mistake") {
  CHECK_THROWS_AS(compare({1, 2}, {1}, 0), Broken);
}

TEST_CASE("exact comparison finds the first difference and treats NaN as different") {
  const std::vector<float> a{1, -0.0f, kNan};
  const std::vector<float> b{1, 0.0f, kNan};
  const auto miss = first_difference(std::span<const float>(a), b, index_namer("a", {3}));
  REQUIRE(miss);
  CHECK(miss->where == "a[2]");
  CHECK(miss->count == 1);
}

TEST_CASE("worst_ratio says how much of a tolerance was used") {
  const std::vector<float> got{1.5f, 2.0f};
  const std::vector<double> want{1, 2};
  const std::vector<double> bound{1, 1};
  CHECK(worst_ratio(got, want, bound, 0.25) == 2);
  CHECK(worst_ratio(std::vector<float>{kNan, 2}, want, bound, 1) == kInf);
  const std::vector<double> empty_row{-kInf, 0};
  CHECK(worst_ratio(std::vector<float>{-INFINITY, 0}, empty_row, std::vector<double>{0, 0}, 1) ==
        0);
}

TEST_CASE("an answer of the bits that were judged last is not judged again") {
  JudgedBits judged;
  std::array<float, 2> sums{1, 0};
  const std::array<int, 1> indices{7};
  CHECK(judged.are_new(sums, indices));
  CHECK_FALSE(judged.are_new(sums, indices));
  CHECK(judged.are_new(sums));
  CHECK_FALSE(judged.are_new(sums));
  CHECK(judged.are_new(sums, indices));
  sums[1] = -0.0F;
  CHECK(judged.are_new(sums, indices));
  CHECK_FALSE(judged.are_new(sums, indices));
}
