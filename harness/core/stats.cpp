// SPDX-License-Identifier: Apache-2.0
#include "harness/core/stats.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gauntlet {

double quantile(std::vector<double> sample, double share) {
  if (sample.empty()) throw std::invalid_argument("quantile of an empty sample");
  std::sort(sample.begin(), sample.end());
  const double place = share * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sample.size() - 1);
  const double part = place - static_cast<double>(below);
  return sample[below] + part * (sample[above] - sample[below]);
}

}  // namespace gauntlet
