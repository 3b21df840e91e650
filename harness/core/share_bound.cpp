// SPDX-License-Identifier: Apache-2.0
#include "harness/core/share_bound.h"

#include <cmath>
#include <stdexcept>

namespace gauntlet {
namespace {

/// P(B <= hits) of B ~ Bin(of, share).
double at_most(int hits, int of, double share) {
  double sum = 0;
  for (int k = 0; k <= hits; ++k)
    sum += std::exp(std::lgamma(of + 1.0) - std::lgamma(k + 1.0) - std::lgamma(of - k + 1.0) +
                    k * std::log(share) + (of - k) * std::log1p(-share));
  return sum;
}

}  // namespace

double upper_bound_of_share(int hits, int of) {
  if (hits < 0 || hits > of) throw std::invalid_argument("more hits than tries");
  if (hits == of) return 1;
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (at_most(hits, of, middle) > 0.05 ? low : high) = middle;
  }
  return high;
}

}  // namespace gauntlet
