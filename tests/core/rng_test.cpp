#include "harness/core/rng.h"

#include <cmath>
#include <doctest/doctest.h>
#include <set>

using namespace gauntlet;

TEST_CASE("the same seed gives the same numbers, on every machine") {
  Rng rng(42);
  CHECK(rng() ==
        0x15780b2e0c2ec716);  // xoshiro256** seeded by splitmix64, as its authors publish it
  CHECK(Rng(7)() == Rng(7)());
  CHECK(Rng(7)() != Rng(8)());
}

TEST_CASE("streams of one seed differ by name and not by order of use") {
  CHECK(derive_seed(1, "a") == derive_seed(1, "a"));
  CHECK(derive_seed(1, "a") != derive_seed(1, "b"));
  CHECK(derive_seed(1, "a") != derive_seed(2, "a"));
}

TEST_CASE("integer() reaches both ends and nothing else") {
  Rng rng(3);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.integer(-2, 2));
  CHECK(seen == std::set<std::int64_t>{-2, -1, 0, 1, 2});
  CHECK(rng.integer(5, 5) == 5);
  CHECK_THROWS(rng.integer(1, 0));
}

TEST_CASE("normal() has mean 0, deviation 1 and the tails of a normal") {
  Rng rng(11);
  constexpr int kDraws = 200'000;
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    if (std::abs(x) > 2) ++beyond_two;
  }
  CHECK(std::abs(sum / kDraws) < 0.01);  // 4.5 standard errors
  CHECK(std::abs(squares / kDraws - 1) < 0.015);
  CHECK(beyond_two / double(kDraws) == doctest::Approx(0.0455).epsilon(0.05));
}

TEST_CASE("uniform() stays below 1 and shuffle() keeps every item") {
  Rng rng(5);
  for (int i = 0; i < 10'000; ++i) {
    const double x = rng.uniform();
    CHECK((x >= 0 && x < 1));
  }
  std::vector<int> items{1, 2, 3, 4, 5, 6};
  rng.shuffle(items);
  CHECK(std::set<int>(items.begin(), items.end()).size() == 6);
}
