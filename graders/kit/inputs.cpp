// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/inputs.h"

#include <algorithm>
#include <numeric>

namespace gauntlet::kit {

std::int64_t near_to(Rng& rng, std::int64_t value, std::int64_t least) {
  return std::max(least, value + rng.integer(-1, 1));
}

double log_uniform(Rng& rng, double low, double high) {
  return std::exp(rng.uniform(std::log(low), std::log(high)));
}

std::vector<std::int64_t> random_order(Rng& rng, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  return order;
}

std::int32_t guaranteed_alignment(const Placement& placement) {
  if (placement.skew == 0) return static_cast<std::int32_t>(placement.alignment);
  return static_cast<std::int32_t>(placement.skew & (~placement.skew + 1));  // lowest set bit
}

}  // namespace gauntlet::kit
