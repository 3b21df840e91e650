// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <set>

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

}  // namespace

TEST_CASE("gaps between rows hold NaN, rows do not, and nothing follows the last row") {
  Rng rng(1);
  const Problem problem = make_problem(rng, 3, 5, 9, {}, 2);
  CHECK(problem.k == 5);
  CHECK(problem.logits.size() == 2 * 7 + 5);
  CHECK(std::isnan(problem.logits[5]));
  for (std::int64_t i = 0; i < 3; ++i)
    for (const float value : problem.row(i)) CHECK(std::isfinite(value));
}

TEST_CASE("planted entries are the largest of the row, the first of them first") {
  Rng rng(2);
  std::vector<float> row(1000);
  fill_noise(rng, row);
  const auto where = random_places(rng, 1000, 60);
  plant(rng, row, where);
  float last = INFINITY;
  for (const std::int64_t at : where) {
    CHECK(row[static_cast<std::size_t>(at)] < last);
    last = row[static_cast<std::size_t>(at)];
  }
  CHECK(std::ranges::count_if(row, [&](float z) { return z >= last; }) == 60);
}

TEST_CASE("random places are different, in range, and all of them when all are asked for") {
  Rng rng(3);
  for (const std::int64_t count : {0, 1, 20, 99, 100, 130}) {
    const auto places = random_places(rng, 100, count);
    const std::set<std::int64_t> different(places.begin(), places.end());
    CHECK(std::ssize(different) == std::min<std::int64_t>(count, 100));
    CHECK(std::ranges::all_of(places, [](std::int64_t at) { return at >= 0 && at < 100; }));
  }
}

TEST_CASE("places of one thread all fall to one thread") {
  Rng rng(4);
  for (const std::int64_t threads : {4, 32, 1024})
    for (const std::int64_t run : {1, 4, 8}) {
      const Dealing dealing{threads, run};
      const auto places = dealing.places_of_one(rng, 70'000, 50);
      CHECK(places.size() == 50);
      std::set<std::int64_t> owners;
      for (const std::int64_t at : places) {
        CHECK(at < 70'000);
        owners.insert(at / run % threads);
      }
      CHECK(owners.size() == 1);
    }
}

TEST_CASE("other units move the scale and the logits, and leave their products to the last bit") {
  Rng rng(5);
  const Problem problem = make_problem(rng, 3, 400, 9, {}, 2);
  for (const int exponent : {-96, 40, 96}) {
    Problem moved = problem;
    moved.scale = 0.7f;
    change_units(moved, exponent);
    CHECK(moved.scale == std::ldexp(0.7f, exponent));
    CHECK(std::isnan(moved.logits[400]));
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 400; ++j)
        CHECK(moved.scale * moved.row(i)[j] == 0.7f * problem.row(i)[j]);
  }
}
