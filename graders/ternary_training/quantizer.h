// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "checkpoint.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The canonical quantiser, decided exactly: sums in 113 bits, which hold a group whose sizes lie
/// within a factor of 2^76 of each other; the mean is compared with the midpoints of halves and
/// never rounded before. A mean beyond the halves leaves an infinite scale.
TernaryMatrix quantized(std::span<const float> weight, std::int64_t rows, std::int64_t columns,
                        std::int64_t group);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
