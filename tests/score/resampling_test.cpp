// SPDX-License-Identifier: Apache-2.0
#include "harness/score/resampling.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <functional>

#include "harness/core/rng.h"

using namespace gauntlet;

namespace {

AttemptScores random_scores(Rng& rng, std::size_t challenges, std::int64_t most) {
  AttemptScores scores(challenges);
  for (auto& attempts : scores) {
    for (std::int64_t i = rng.integer(1, most); i > 0; --i) attempts.push_back(rng.uniform(0, 100));
    std::sort(attempts.begin(), attempts.end(), std::greater<>());
  }
  return scores;
}

double mean(const AttemptScores& scores) {
  double sum = 0;
  for (const auto& attempts : scores)
    for (const double score : attempts) sum += score / static_cast<double>(attempts.size());
  return sum / static_cast<double>(scores.size());
}

}  // namespace

TEST_CASE("with one challenge and one attempt each there is nothing to draw") {
  const Interval only = Resamples(200, 1, 0.95).difference({{80}}, {{70}});
  CHECK(only.low == 10);
  CHECK(only.high == 10);
}

TEST_CASE("the same challenges are drawn for both: equal differences leave no width") {
  const Resamples resamples(1000, 4, 0.95);
  const Interval equal = resamples.difference({{90}, {50}, {20}, {70}}, {{85}, {45}, {15}, {65}});
  CHECK(equal.low == doctest::Approx(5));
  CHECK(equal.high == doctest::Approx(5));
}

TEST_CASE("attempts are drawn independently for either side") {
  const Interval alike = Resamples(4000, 1, 0.9).difference({{100, 0}}, {{100, 0}});
  CHECK(alike.low == -100);
  CHECK(alike.high == 100);
}

TEST_CASE("half of the resamples of two challenges draw both, a quarter each of them twice") {
  const AttemptScores first{{10}, {0}};
  const AttemptScores second{{0}, {0}};
  const Resamples half(20000, 2, 0.48);  // 26 % to 74 %: inside of the middle half
  CHECK(half.difference(first, second).low == doctest::Approx(5));
  CHECK(half.difference(first, second).high == doctest::Approx(5));
  const Resamples more(20000, 2, 0.54);
  CHECK(more.difference(first, second).low == doctest::Approx(0));
  CHECK(more.difference(first, second).high == doctest::Approx(10));
}

TEST_CASE("the same numbers give the same interval, which holds the difference of the means") {
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    const AttemptScores first = random_scores(rng, 8, 4);
    const AttemptScores second = random_scores(rng, 8, 4);
    const Interval one = Resamples(1000, 8, 0.95).difference(first, second);
    const Interval again = Resamples(1000, 8, 0.95).difference(first, second);
    CHECK(one.low == again.low);
    CHECK(one.high == again.high);
    CHECK(one.low <= mean(first) - mean(second));
    CHECK(one.high >= mean(first) - mean(second));
  }
}

TEST_CASE("a further attempt that is worse in every challenge brings its side nearer to nobody") {
  const Resamples resamples(500, 5, 0.95);
  Rng rng(2);
  for (int i = 0; i < 40; ++i) {
    const AttemptScores ahead = random_scores(rng, 5, 4);
    AttemptScores behind = random_scores(rng, 5, 4);
    const Interval before = resamples.difference(ahead, behind);
    for (auto& attempts : behind) attempts.push_back(rng.uniform(0, attempts.back()));
    CHECK(resamples.difference(ahead, behind).low >= before.low);
  }
}

TEST_CASE("winning everything is worth what so many coins are") {
  CHECK(least_p(1) == 1);
  CHECK(least_p(5) == doctest::Approx(0.0625));
  CHECK(least_p(8) == doctest::Approx(0.0078125));
}
