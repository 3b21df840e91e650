// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace gauntlet {

/// The value below which `share` of the sample lies, 0..1, linear between order statistics (Hyndman
/// and Fan 1996, type 7, as R and NumPy). Throws std::invalid_argument for an empty sample.
double quantile(std::vector<double> sample, double share);

/// The one-sided 95 % upper bound of a probability of which `hits` of `trials` were seen (Clopper
/// and Pearson 1934). 1 without trials.
double share_at_most(int hits, int trials);

struct Interval {
  double low = 0;
  double high = 0;
};

}  // namespace gauntlet
