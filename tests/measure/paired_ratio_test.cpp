// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/paired_ratio.h"

#include <cmath>
#include <doctest/doctest.h>
#include <stdexcept>

#include "harness/core/rng.h"

using namespace gauntlet;

namespace {

/// 2 P(B <= k) of B ~ Bin(n, 1/2), by adding up logarithms.
double missed(std::size_t n, std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i <= k; ++i)
    sum += std::exp(std::lgamma(double(n) + 1) - std::lgamma(double(i) + 1) -
                    std::lgamma(double(n - i) + 1) - double(n) * std::log(2.0));
  return 2 * sum;
}

}  // namespace

TEST_CASE("an interval leaves out as many pairs as it may and no more") {
  CHECK(left_out_on_each_side(8) == 0);
  CHECK(left_out_on_each_side(12) == 1);
  for (const std::size_t n : {8, 11, 12, 13, 50, 200, 384, 1000, 1074, 1075, 1500}) {
    CAPTURE(n);
    const std::size_t out = left_out_on_each_side(n);
    CHECK(missed(n, out) <= kMissed * 1.02);  // of the normal law, beyond 1074
    CHECK(missed(n, out + 2) > kMissed);
    if (n <= 1074) CHECK(missed(n, out + 1) > kMissed);
  }
}

TEST_CASE("the interval holds the true ratio as often as it says, whatever the noise") {
  Rng rng(5);
  int missed_normal = 0, missed_heavy = 0;
  constexpr int kRaces = 2000;
  for (int race = 0; race < kRaces; ++race) {
    std::vector<double> normal, heavy;
    for (int i = 0; i < 50; ++i) {
      normal.push_back(0.1 + 0.05 * rng.normal());
      // One pair in four met somebody else in one of its laps.
      heavy.push_back(0.1 + 0.01 * rng.normal() + (rng.chance(0.25) ? rng.uniform(-3, 3) : 0));
    }
    const auto misses = [](const PairedRatio& ratio) {
      return ratio.interval.low > std::exp(0.1) || ratio.interval.high < std::exp(0.1) ? 1 : 0;
    };
    missed_normal += misses(paired_ratio(normal));
    missed_heavy += misses(paired_ratio(heavy));
  }
  CHECK(missed_normal <= kRaces / 50);  // 1 % expected; a chance of 1 in 10,000 for 2 %
  CHECK(missed_heavy <= kRaces / 50);
  CHECK(missed_normal > 0);
}

TEST_CASE("pairs that follow each other count for as many as they tell of") {
  Rng rng(6);
  constexpr int kRaces = 600;
  constexpr int kPairs = 256;
  int missed_together = 0;
  double told_together = 0, told_apart = 0;
  for (int race = 0; race < kRaces; ++race) {
    // Autoregressive noise: a share 0.6 of it is that of the pair before.
    std::vector<double> together, apart;
    double noise = rng.normal();
    for (int i = 0; i < kPairs; ++i) {
      noise = 0.6 * noise + 0.8 * rng.normal();
      together.push_back(0.05 * noise);
      apart.push_back(0.05 * rng.normal());
    }
    const PairedRatio ratio = paired_ratio(together);
    missed_together += ratio.interval.low > 1 || ratio.interval.high < 1 ? 1 : 0;
    told_together += effective_pairs(together) / kPairs / kRaces;
    told_apart += effective_pairs(apart) / kPairs / kRaces;
  }
  CHECK(missed_together <= kRaces / 25);  // as if they were independent: 13 %
  CHECK(told_together < 0.5);
  CHECK(told_apart > 0.85);
}

TEST_CASE("pairs that lie apart count each, however like its neighbour one looks") {
  std::vector<double> logs;
  for (int i = 0; i < 20; ++i) logs.push_back(0.01 * i);
  CHECK(effective_pairs(logs) < kFewestPairs);
  CHECK(paired_ratio(logs).interval.low == 1);
  const Interval apart = paired_ratio(logs, Pairs::are_apart).interval;
  const std::size_t out = left_out_on_each_side(20);
  CHECK(out == 3);
  CHECK(apart.low == doctest::Approx(std::exp(0.03)));
  CHECK(apart.high == doctest::Approx(std::exp(0.16)));
}

TEST_CASE("pairs by turns above and below the middle count for no more than there are") {
  std::vector<double> turns;
  for (int i = 0; i < 100; ++i) turns.push_back(i % 2 == 0 ? 0.1 : -0.1);
  CHECK(effective_pairs(turns) == 100);
}

TEST_CASE("the median is the middle, and too few pairs have no interval") {
  const PairedRatio ratio = paired_ratio({0, 0, 0, 0, 1, 1, 1, 1, 1});
  CHECK(ratio.median == doctest::Approx(std::exp(1.0)));
  CHECK(ratio.interval.low == 1);
  CHECK(ratio.interval.high == doctest::Approx(std::exp(1.0)));
  CHECK(ratio.width() == doctest::Approx(std::exp(1.0)));
  CHECK_THROWS_AS(paired_ratio({0, 0, 0, 0, 0, 0, 0}), std::invalid_argument);
}
