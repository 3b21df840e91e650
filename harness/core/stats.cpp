#include "harness/core/stats.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gauntlet {

double median(std::vector<double> sample) {
  if (sample.empty()) throw std::invalid_argument("median of an empty sample");
  std::sort(sample.begin(), sample.end());
  const std::size_t n = sample.size();
  return n % 2 == 1 ? sample[n / 2] : (sample[n / 2 - 1] + sample[n / 2]) / 2;
}

Interval median_interval95(std::vector<double> sample) {
  if (sample.empty()) throw std::invalid_argument("interval of an empty sample");
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  // Leave out the k smallest and k largest while P(Binomial(n, 1/2) <= k - 1) stays at 2.5 % or
  // less.
  std::size_t k = 0;
  double tail = 0;
  double log_choose = 0;  // log C(n, k)
  while (2 * (k + 1) < sample.size()) {
    tail += std::exp(log_choose - n * std::log(2.0));
    if (tail > 0.025) break;
    ++k;
    const auto j = static_cast<double>(k);
    log_choose += std::log((n - j + 1) / j);
  }
  const std::size_t cut = k == 0 ? 0 : k - 1;
  return {sample[cut], sample[sample.size() - 1 - cut]};
}

}  // namespace gauntlet
