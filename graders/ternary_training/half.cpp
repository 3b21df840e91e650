// SPDX-License-Identifier: Apache-2.0
#include "half.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// The last half that is not above x >= 0, or infinity.
std::uint16_t half_below(double x) {
  if (!(x < 65536)) return kHalfInfinity;
  if (x < 0x1p-14) return static_cast<std::uint16_t>(x * 0x1p24);
  return static_cast<std::uint16_t>((std::bit_cast<std::uint64_t>(x) >> 42) - ((1023 - 15) << 10));
}

}  // namespace

double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double size = fraction * 0x1p-24;
  if (exponent == 31)
    size = fraction == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  else if (exponent != 0)
    size = std::bit_cast<double>(static_cast<std::uint64_t>(exponent - 15 + 1023) << 52 |
                                 static_cast<std::uint64_t>(fraction) << 42);
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
  // The quotient as a double is off by less than half a step.
  const auto around = half_below(static_cast<double>(value) / static_cast<double>(divisor));
  auto low = static_cast<std::uint16_t>(around == 0 ? 0 : around - 1);
  const auto high_end = std::min<int>(around + 2, kHalfInfinity + 1);
  auto high = static_cast<std::uint16_t>(high_end);
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (reaches(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
