#pragma once

#include <vector>

namespace gauntlet {

/// Middle value; the mean of the two middle ones for an even count. Throws for an empty sample.
double median(std::vector<double> sample);

struct Interval {
  double low = 0;
  double high = 0;
};

/// Distribution-free interval for the median from order statistics: covers it with at least 95 %
/// when the sample has 6 values or more, and is the whole range below that. (Sign test; Conover
/// 1999, 3.2.)
Interval median_interval95(std::vector<double> sample);

}  // namespace gauntlet
