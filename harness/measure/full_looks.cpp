// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/full_looks.h"

#include "harness/core/stats.h"

namespace gauntlet {

FullLooks::FullLooks(const Seed& secret)
    : rng_(secret), next_(static_cast<std::size_t>(rng_.integer(1, 4))) {}

// A solution whose laps grow slower and slower has none below the median before: after six the next
// one will do.
bool FullLooks::wants(double ns) {
  constexpr std::size_t kPatience = 6;
  seen_.push_back(ns);
  const std::size_t laps = seen_.size();
  if (laps < next_ || (laps < next_ + kPatience && ns > quantile(seen_, 0.5))) return false;
  const auto n = static_cast<std::int64_t>(laps);
  next_ = laps + static_cast<std::size_t>(rng_.integer(n / 2 + 1, 2 * n));
  ++looks_;
  return true;
}

}  // namespace gauntlet
