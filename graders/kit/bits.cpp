// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/bits.h"

#include <algorithm>

namespace gauntlet::kit {

bool is_poison(std::span<const std::byte> memory) {
  return std::ranges::all_of(memory, [](std::byte byte) { return byte == std::byte{0xff}; });
}

}  // namespace gauntlet::kit
