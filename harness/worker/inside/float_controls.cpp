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

std::uint64_t unusual_float_controls(std::uint64_t usual, bool zero_subnormals) {
#if defined(__x86_64__)
  constexpr std::uint64_t kRounding = (std::uint64_t{0x0C00} << 32) | 0x6000;
  constexpr std::uint64_t kUpwards = (std::uint64_t{0x0800} << 32) | 0x4000;
  constexpr std::uint64_t kFlushToZero = 0x8000;
  constexpr std::uint64_t kDenormalsAreZero = 0x0040;
  return (usual & ~kRounding) | kUpwards | kFlushToZero | (zero_subnormals ? kDenormalsAreZero : 0);
#else
  (void)usual, (void)zero_subnormals;
  return FE_UPWARD;
#endif
}

void set_float_controls(std::uint64_t controls) {
#if defined(__x86_64__)
  const auto x87 = static_cast<std::uint16_t>(controls >> 32);
  asm volatile("fldcw %0" : : "m"(x87));
  __builtin_ia32_ldmxcsr(static_cast<std::uint32_t>(controls));
#else
  std::fesetround(static_cast<int>(controls));
#endif
}

}  // namespace gauntlet::inside
