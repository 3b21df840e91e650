// SPDX-License-Identifier: Apache-2.0
#pragma once

// One group of weights: its scale, and its codes.
#include <cstring>

#include "half.h"
#include "vectors.h"

namespace ternary {

/// The sum of |w|, in double precision, in as many chains as a vector has lanes.
inline double absolute_sum(const float* w, std::int64_t count) {
  double sums[kLanes] = {};
  std::int64_t i = 0;
  if (count < kLanes) {
    for (; i < count; ++i) sums[0] += std::fabs(static_cast<double>(w[i]));
    return sums[0];
  }
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane)
      sums[lane] += std::fabs(static_cast<double>(w[i + lane]));
  for (int lane = 0; i < count; ++i, ++lane) sums[lane] += std::fabs(static_cast<double>(w[i]));
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
}

/// The canonical scale of a group: a half, infinity where the mean is too large.
inline std::uint16_t group_scale(const float* w, std::int64_t count) {
  return mean_half(absolute_sum(w, count), w, count);
}

/// What |w| must exceed to count: half the scale, which is a float, so that comparisons are exact.
inline float threshold_of(std::uint16_t scale) {
  return scale == 0 ? HUGE_VALF : float_of_half(scale) / 2;
}

inline std::uint32_t code_of(float w, float threshold) {
  return 1u + (w > threshold) - (w < -threshold);
}

/// Codes of a group, four to a byte: 1 for zero, 2 for +scale, 0 for -scale. The loops over kChunk
/// are ones that compilers turn into vectors.
inline void write_codes(const float* w, std::int64_t count, float threshold, std::uint8_t* codes) {
  constexpr std::int64_t kChunk = 64;
  std::int64_t i = 0;
  for (; i + kChunk <= count; i += kChunk) {
    std::uint8_t loose[kChunk];
    for (std::int64_t k = 0; k < kChunk; ++k)
      loose[k] = static_cast<std::uint8_t>(code_of(w[i + k], threshold));
    std::uint32_t fours[kChunk / 4];
    std::memcpy(fours, loose, sizeof(fours));
    for (std::int64_t k = 0; k < kChunk / 4; ++k)
      codes[i / 4 + k] =
          static_cast<std::uint8_t>(fours[k] | fours[k] >> 6 | fours[k] >> 12 | fours[k] >> 18);
  }
  for (; i < count; i += 4) {
    std::uint32_t byte = 0;
    for (int k = 0; k < 4; ++k) byte |= code_of(w[i + k], threshold) << (2 * k);
    codes[i / 4] = static_cast<std::uint8_t>(byte);
  }
}

/// The weights that a group stands for.
inline void write_weights(const float* w, std::int64_t count, std::uint16_t scale, float* to) {
  const float value = float_of_half(scale);
  const float threshold = threshold_of(scale);
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = w[i] > threshold ? value : (w[i] < -threshold ? -value : 0.0f);
}

}  // namespace ternary
