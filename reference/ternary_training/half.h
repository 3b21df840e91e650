// SPDX-License-Identifier: Apache-2.0
#pragma once

// IEEE half precision of non-negative numbers, and the mean of a group correctly rounded to it.
#include <bit>
#include <cmath>
#include <cstdint>

namespace ternary {

inline constexpr std::uint16_t kHalfInfinity = 0x7c00;
inline constexpr std::uint16_t kLargestHalf = 0x7bff;

inline float float_of_half(std::uint16_t half) {
  const int exponent = half >> 10;
  const int mantissa = half & 1023;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>((exponent + 112) << 23 | mantissa << 13);
}

/// A value x >= 0 between two neighbouring halves: x = (whole + part) * 2^exponent.
struct BetweenHalves {
  explicit BetweenHalves(double x) {
    const int binade = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52) - 1023;
    exponent = (binade < -14 ? -14 : binade) - 10;
    const double scaled =
        x * std::bit_cast<double>(static_cast<std::uint64_t>(1023 - exponent) << 52);
    whole = static_cast<int>(scaled);
    part = scaled - whole;
  }
  std::uint16_t half(bool up) const {
    return static_cast<std::uint16_t>((exponent + 24) * 1024 + whole + (up ? 1 : 0));
  }
  int exponent;
  int whole;    // of 11 bits
  double part;  // 0 <= part < 1
};

/// Sign of: the sum of |w| over count floats, each below 2^47, less count * (whole + 1/2) *
/// 2^exponent. Exact: the sum in units of 2^-40, and what is left of each in units of 2^-149.
inline int compare_sum(const float* w, std::int64_t count, const BetweenHalves& at) {
  unsigned __int128 coarse = 0;
  unsigned __int128 fine = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double units = std::fabs(static_cast<double>(w[i])) * 0x1p40;
    const double floor = std::floor(units);
    coarse += static_cast<unsigned __int128>(floor);
    fine += static_cast<unsigned __int128>((units - floor) * 0x1p109);
  }
  coarse += fine >> 109;
  const bool more = (fine & ((static_cast<unsigned __int128>(1) << 109) - 1)) != 0;
  const unsigned __int128 middle = static_cast<unsigned __int128>(2 * at.whole + 1)
                                   << (at.exponent + 39);
  const unsigned __int128 target = middle * static_cast<unsigned __int128>(count);
  if (coarse != target) return coarse > target ? 1 : -1;
  return more ? 1 : 0;
}

/// The half nearest to the mean of |w|, ties to even; infinity where that rounds to it. `sum` is
/// the sum of |w| in double precision; where it is too close to a tie to tell, w is summed again.
inline std::uint16_t mean_half(double sum, const float* w, std::int64_t count) {
  const double mean = sum / static_cast<double>(count);
  if (!(mean < 65536)) return kHalfInfinity;
  const BetweenHalves at(mean);
  const double doubt = static_cast<double>(count) * 0x1p-40;
  if (std::fabs(at.part - 0.5) > doubt) return at.half(at.part > 0.5);
  const int side = compare_sum(w, count, at);
  return at.half(side > 0 || (side == 0 && (at.whole & 1) != 0));
}

}  // namespace ternary
