// SPDX-License-Identifier: Apache-2.0
#include "half.h"

#include <cmath>
#include <limits>

namespace gauntlet::GAUNTLET_CHALLENGE {

double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double size = 0;
  if (exponent == 31)
    size = fraction == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    size = std::ldexp(fraction, -24);
  else
    size = std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

// Halves ascend with their bits, so the wanted one is the last whose lower midpoint the quotient
// reaches. Products of a half, a small integer and a power of two are exact in 113 bits.
std::uint16_t nearest_half(__float128 value, std::int64_t divisor) {
  const auto reaches = [&](std::uint16_t bits) {
    if (bits == 0) return true;
    const bool beyond = bits == kHalfInfinity;  // counts as 65536, what follows 65504
    const __float128 above = beyond ? 65536 : half_value(bits);
    const __float128 below = half_value(static_cast<std::uint16_t>(bits - 1));
    const __float128 twice = 2 * value;
    const __float128 middle = (above + below) * static_cast<__float128>(divisor);
    return twice > middle || (twice == middle && bits % 2 == 0);
  };
  std::uint16_t low = 0;
  std::uint16_t high = kHalfInfinity + 1;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (reaches(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
