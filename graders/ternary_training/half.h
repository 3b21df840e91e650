// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gauntlet::GAUNTLET_CHALLENGE {

/// IEEE binary16, carried as its bits.
constexpr std::uint16_t kHalfInfinity = 0x7c00;

double half_value(std::uint16_t bits);

/// The half nearest to value / divisor, ties to even, decided without rounding the quotient first.
/// Both numbers are non-negative and finite; the quotient may be above the largest half: infinity.
std::uint16_t nearest_half(__float128 value, std::int64_t divisor = 1);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
