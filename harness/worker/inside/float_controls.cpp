// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/inside/float_controls.h"

#include <cfenv>

namespace gauntlet::inside {

std::uint64_t float_controls() {
#if defined(__x86_64__)
  constexpr std::uint32_t kFlags = 0x3F;  // of exceptions that have happened
  std::uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  return (std::uint64_t{x87} << 32) | (__builtin_ia32_stmxcsr() & ~kFlags);
#else
  return static_cast<std::uint64_t>(std::fegetround());
#endif
}

}  // namespace gauntlet::inside
