#include "harness/core/stats.h"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include "harness/core/rng.h"

using namespace gauntlet;

TEST_CASE("the median of an even sample lies between its middle values") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK_THROWS(median({}));
}

// Cuts from the binomial table: P(B <= cut) <= 2.5 % for n fair coins.
TEST_CASE("the interval for the median drops as many order statistics as the binomial allows") {
  const auto cut = [](int n) {
    std::vector<double> sample;
    for (int i = 0; i < n; ++i) sample.push_back(i);
    const Interval interval = median_interval95(sample);
    CHECK(interval.low + interval.high == n - 1);
    return interval.low;
  };
  CHECK(cut(1) == 0);
  CHECK(cut(6) == 0);
  CHECK(cut(9) == 1);
  CHECK(cut(15) == 3);
  CHECK(cut(21) == 5);
  CHECK(cut(41) == 13);
}

TEST_CASE("the interval covers the true median about as often as it says") {
  Rng rng(1);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> sample;
    for (int i = 0; i < 15; ++i) sample.push_back(std::exp(rng.normal()));  // median 1, skewed
    const Interval interval = median_interval95(sample);
    if (interval.low <= 1 && 1 <= interval.high) ++covered;
  }
  CHECK(covered >= 0.95 * kTrials);
}
