#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

constexpr uint16_t kInfiniteHalf = 0x7c00;

inline float half_to_float(uint16_t half) {
  const int exponent = half >> 10;
  const auto mantissa = static_cast<float>(half & 0x3ff);
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
}

/// Round a non-negative number to half precision, ties to even.
inline uint16_t float_to_half(double x) {
  if (x >= 65520) return kInfiniteHalf;
  const int exponent = std::max(x > 0 ? std::ilogb(x) : -14, -14);
  const double mantissa = std::nearbyint(std::ldexp(x, 10 - exponent));  // 1024 and more if normal
  return static_cast<uint16_t>((exponent + 14) * 1024 + mantissa);
}
