// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/inputs.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <set>
#include <vector>

using namespace gauntlet;
using namespace gauntlet::kit;

namespace {

constexpr std::size_t kMany = 100'000;

template <class Fill>
std::vector<float> noise(const Fill& fill, const Seed& seed) {
  std::vector<float> values(kMany);
  Rng rng(seed);
  fill(rng, values, 3.0, 2.0);
  return values;
}

/// Mean 3 and deviation 2, the same for the same seed, another for another.
template <class Fill>
void check_noise(const Fill& fill) {
  const std::vector<float> values = noise(fill, 5);
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += (value - 3.0) * (value - 3.0);
  }
  CHECK(sum / kMany == doctest::Approx(3.0).epsilon(0.01));
  CHECK(std::sqrt(squares / kMany) == doctest::Approx(2.0).epsilon(0.01));
  CHECK(noise(fill, 5) == values);
  CHECK(noise(fill, 6) != values);
}

double farthest(const std::vector<float>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return std::max(3.0 - *low, *high - 3.0) / 2;
}

}  // namespace

TEST_CASE("uniform noise fills its interval and no more") {
  check_noise(fill_uniform);
  CHECK(farthest(noise(fill_uniform, 5)) == doctest::Approx(std::sqrt(3.0)).epsilon(0.001));
}

TEST_CASE("bell-shaped noise has a tail that ends, and few ties") {
  check_noise(fill_bell);
  const std::vector<float> values = noise(fill_bell, 5);
  CHECK(farthest(values) > 2.7);
  CHECK(farthest(values) <= 3.0);
  CHECK(std::set(values.begin(), values.end()).size() > 98'000);
}

TEST_CASE("a size near to another is one of three, and not below the least") {
  Rng rng(1);
  std::set<std::int64_t> sizes, small;
  for (int n = 0; n < 200; ++n) {
    sizes.insert(near_to(rng, 64));
    small.insert(near_to(rng, 2, 2));
  }
  CHECK(sizes == std::set<std::int64_t>{63, 64, 65});
  CHECK(small == std::set<std::int64_t>{2, 3});
}

TEST_CASE("log-uniform numbers lie as often below the geometric mean as above") {
  Rng rng(2);
  int below = 0;
  for (int n = 0; n < 2000; ++n) {
    const double x = log_uniform(rng, 1e-3, 1e3);
    REQUIRE((x >= 1e-3 && x <= 1e3));
    below += x < 1;
  }
  CHECK(below == doctest::Approx(1000).epsilon(0.1));
}

TEST_CASE("a random order has every number once") {
  Rng rng(3);
  const std::vector<std::int64_t> order = random_order(rng, 50);
  CHECK(std::set(order.begin(), order.end()).size() == 50);
  CHECK(*std::max_element(order.begin(), order.end()) == 49);
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
  CHECK(random_order(rng, 0).empty());
}

TEST_CASE("one of some values may be any of them") {
  Rng rng(4);
  constexpr int kValues[] = {2, 3, 5};
  std::set<int> from_array, from_list;
  for (int n = 0; n < 100; ++n) {
    from_array.insert(one_of(rng, kValues));
    from_list.insert(one_of<int>(rng, {7, 11}));
  }
  CHECK(from_array == std::set<int>{2, 3, 5});
  CHECK(from_list == std::set<int>{7, 11});
}

TEST_CASE("a skew leaves its lowest bit of the alignment") {
  CHECK(guaranteed_alignment({64, 0}) == 64);
  CHECK(guaranteed_alignment({64, 4}) == 4);
  CHECK(guaranteed_alignment({64, 24}) == 8);
}
