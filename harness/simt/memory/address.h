// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "harness/simt/ptx/module.h"

namespace gauntlet::simt {

// Generic addresses. Global memory starts far above what a program on this machine has mapped, so
// that a pointer of the host is in no space; shared and local memory are seen through windows.
inline constexpr std::uint64_t kGlobalBase = 0x2000'0000'0000'0000;
inline constexpr std::uint64_t kSharedWindow = 0x1000'0000'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x1100'0000'0000'0000;
inline constexpr std::uint64_t kWindowBytes = 1u << 24;

/// The space that a generic address lies in; global for all that is in no window.
inline ptx::Space space_of(std::uint64_t generic) {
  if (generic - kSharedWindow < kWindowBytes) return ptx::Space::shared;
  if (generic - kLocalWindow < kWindowBytes) return ptx::Space::local;
  return ptx::Space::global;
}

}  // namespace gauntlet::simt
