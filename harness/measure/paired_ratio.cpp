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
// takes n >= 8: 2 / 2^8 = 0.8 %. That pairs follow each other independently is assumed; where they
// do not, as many are left out as of effective_pairs(), in proportion. What `gauntlet calibrate`
// counts says how far that holds.
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

// Two programs that a machine slows down unequally, a second at a time, differ by much the same in
// one pair and the next, and 200 pairs may know as little as 50. Of a median, what counts is on
// which side of it a pair lies: with autocorrelations r_j of these signs it varies as that of n / s
// independent pairs does, s = 1 + 2 sum_j (1 - j / (L + 1)) r_j over L = sqrt(n) lags (Newey and
// West 1987). An s below 1 is chance, or a balance that must not be relied on. Simulated: of 384
// pairs whose noise is autoregressive with 0.6, an interval of 99 % misses the median in 14 % of
// races as if they were independent, and in 1.5 % so; of independent ones it is 6 % wider.
double effective_pairs(const std::vector<double>& logs) {
  const std::size_t n = logs.size();
  const double middle = quantile(logs, 0.5);
  std::vector<double> sides;
  for (const double log : logs) sides.push_back(log > middle ? 1 : log < middle ? -1 : 0);
  const auto lags = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  double times = 1;
  for (std::size_t lag = 1; lag <= lags; ++lag) {
    double sum = 0;
    for (std::size_t i = lag; i < n; ++i) sum += sides[i] * sides[i - lag];
    times += 2 * (1 - static_cast<double>(lag) / static_cast<double>(lags + 1)) * sum /
             static_cast<double>(n);
  }
  return static_cast<double>(n) / std::max(1.0, times);
}

PairedRatio paired_ratio(const std::vector<double>& logs, Pairs pairs) {
  if (logs.size() < kFewestPairs) throw std::invalid_argument("paired_ratio: too few pairs");
  std::vector<double> sorted = logs;
  std::ranges::sort(sorted);
  const double effective = pairs == Pairs::resemble_their_neighbours
                               ? effective_pairs(logs)
                               : static_cast<double>(logs.size());
  const std::size_t of_them = left_out_on_each_side(static_cast<std::size_t>(effective));
  const auto out = static_cast<std::size_t>(static_cast<double>(of_them) *
                                            static_cast<double>(logs.size()) / effective);
  return {std::exp(quantile(sorted, 0.5)),
          {std::exp(sorted[out]), std::exp(sorted[sorted.size() - 1 - out])}};
}

}  // namespace gauntlet
