// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gauntlet {

// A pair's ratio lies below the true median with probability 1/2, whatever the noise looks like: so
// the number of n pairs that do is binomial, B ~ Bin(n, 1/2). The interval from the (k+1)-th
// smallest to the (k+1)-th largest ratio misses the median exactly when at most k of them lie on
// one of its sides, which has probability 2 P(B <= k). The interval is the one of the largest k for
// which that is no more than kMissed. (David and Nagaraja, Order Statistics, 3rd ed., 7.1.) It
// takes n >= 8: 2 / 2^8 = 0.8 %. That pairs follow each other independently is assumed; what
// `gauntlet calibrate` counts says how far that holds.
//
// Why the median of paired logarithms: both laps of a pair meet the machine as it is just then, a
// slow second slows both, and a lap that was held up moves a median by one place however long it
// was held up. The logarithm makes "twice as fast" and "half as fast" equally far from 1, and the
// order of the two laps is balanced, so that what the first or the second lap of a pair has for
// itself pushes as many pairs up as down. Of eight estimators on the same 196 races of a program
// against itself and against one that is 5 % slower, this one told it from itself in none and found
// the slowdown in 95 %; the ratio of fastest laps was wrong about every second time.
std::size_t left_out_on_each_side(std::size_t count) {
  const auto n = static_cast<double>(count);
  double term = std::exp2(-n);  // P(B = 0)
  double tail = term;           // P(B <= k)
  if (term == 0) {              // beyond 1074 pairs: the normal law is as good
    const double deviations = 2.5758293035489;
    return static_cast<std::size_t>(n / 2 - 1 - deviations * std::sqrt(n) / 2);
  }
  std::size_t k = 0;  // order statistics on each side that may be left out
  while (2 * tail <= kMissed) {
    term *= (n - static_cast<double>(k)) / static_cast<double>(k + 1);
    tail += term;
    ++k;
  }
  return k > 0 ? k - 1 : 0;
}

PairedRatio paired_ratio(const std::vector<double>& logs) {
  if (logs.size() < kFewestPairs) throw std::invalid_argument("paired_ratio: too few pairs");
  std::vector<double> sorted = logs;
  std::ranges::sort(sorted);
  const std::size_t out = left_out_on_each_side(sorted.size());
  return {std::exp(quantile(sorted, 0.5)),
          {std::exp(sorted[out]), std::exp(sorted[sorted.size() - 1 - out])}};
}

}  // namespace gauntlet
