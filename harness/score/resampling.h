// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/stats.h"

namespace gauntlet {

/// The scores of an entry: for each challenge those of its attempts, falling. Everybody's
/// challenges are in the same order.
using AttemptScores = std::vector<std::vector<double>>;

/// A paired bootstrap over challenges and attempts. Each resample draws as many challenges as there
/// are, with replacement and the same ones for both entries, and for each of them one of the
/// attempts of either, independently. Draws depend on nothing but the two numbers: neither names
/// nor the order of attempts change anything, and a further attempt that is worse in every
/// challenge raises no resample of its entry's mean.
class Resamples {
 public:
  /// So many of so many challenges. `confidence`: which share of them lies inside an interval.
  Resamples(int resamples, std::size_t challenges, double confidence);

  /// Of the first's mean minus the second's: the percentile interval, between two of the resamples.
  Interval difference(const AttemptScores& first, const AttemptScores& second) const;

 private:
  struct Draw {
    std::uint32_t challenge = 0;
    float first = 0;  // which attempt, as a share of how many there are, 0..1
    float second = 0;
  };
  std::size_t challenges_;
  double confidence_;
  std::vector<Draw> draws_;  // of each resample, one for each challenge
};

/// The two-sided p of winning all of `challenges`, by exact sign flips: what no smaller number of
/// them can get below, whoever wins.
double least_p(int challenges);

}  // namespace gauntlet
