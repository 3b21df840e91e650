// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random zeros that can be made again on the way back: a function of step, window, place and lane.
#include "random.h"
#include "vectors.h"

namespace ternary {

class DropoutMask {
 public:
  DropoutMask(float rate, std::uint64_t key)
      : rate_(rate), key_(static_cast<std::uint32_t>(mixed(key))) {}

  /// Sets some numbers of row i to zero and scales the others up.
  void apply(std::int64_t i, std::int64_t count, float* row) const {
    if (rate_ <= 0) return;
    const float scale = 1 / (1 - rate_);
    const auto limit = static_cast<std::uint32_t>(rate_ * 16777216.0f);
    const std::uint32_t start = key_ + static_cast<std::uint32_t>(i * count);
    for (std::int64_t c = 0; c < count; ++c)
      row[c] = hashed(start + static_cast<std::uint32_t>(c)) >> 8 < limit ? 0.0f : row[c] * scale;
  }

 private:
  static std::uint32_t hashed(std::uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
  }
  float rate_;
  std::uint32_t key_;
};

/// The masks of one window in one step; place 2l is after attention of layer l, 2l + 1 at its end.
struct Dropout {
  DropoutMask of(std::int64_t place) const {
    return {rate, key + static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15};
  }
  float rate = 0;
  std::uint64_t key = 0;
};

}  // namespace ternary
