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

double share_at_most(int hits, int trials) {
  if (hits >= trials) return 1;
  // The chance of `hits` or fewer falls as the share grows: 5 % at the bound.
  const auto chance = [&](double share) {
    double sum = 0;
    for (int k = 0; k <= hits; ++k)
      sum += std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) -
                      std::lgamma(trials - k + 1.0) + k * std::log(share) +
                      (trials - k) * std::log1p(-share));
    return sum;
  };
  double low = 0;
  double high = 1;
  for (int halving = 0; halving < 50; ++halving) {
    const double middle = (low + high) / 2;
    (chance(middle) > 0.05 ? low : high) = middle;
  }
  return high;
}

}  // namespace gauntlet
