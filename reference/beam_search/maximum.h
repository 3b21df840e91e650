// SPDX-License-Identifier: Apache-2.0
#pragma once

// The largest of many log-probs, at memory speed.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

constexpr float kNever = -std::numeric_limits<float>::infinity();

constexpr std::int64_t kLanes = 16;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

inline Lanes load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

inline Lanes larger(Lanes a, Lanes b) {
  return a > b ? a : b;
}

inline float maximum(const float* values, std::int64_t count) {
  float best = kNever;
  std::int64_t i = 0;
  if (count >= 4 * kLanes) {
    Lanes sums[4];
    for (int chain = 0; chain < 4; ++chain) sums[chain] = load(values + chain * kLanes);
    for (i = 4 * kLanes; i + 4 * kLanes <= count; i += 4 * kLanes)
      for (int chain = 0; chain < 4; ++chain)
        sums[chain] = larger(sums[chain], load(values + i + chain * kLanes));
    const Lanes all = larger(larger(sums[0], sums[1]), larger(sums[2], sums[3]));
    for (int lane = 0; lane < kLanes; ++lane) best = std::max(best, all[lane]);
  }
  for (; i < count; ++i) best = std::max(best, values[i]);
  return best;
}
