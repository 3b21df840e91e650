// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// Runs a call that must succeed, and gives the most memory that the solution's process held during
/// it besides the caller's arrays, in bytes. Ends the check as unmeasured where the machine cannot
/// tell.
std::int64_t peak_bytes(Probe& probe, CallBase& call);

/// The same of a call that comes first in a fresh process: what a solution keeps from earlier calls
/// counts in none of them. The protocol of every check that grades memory.
std::int64_t fresh_peak_bytes(Probe& probe, CallBase& call);

/// Bytes as reports print them.
double mib(std::int64_t bytes);

/// Bytes that a solution held for an input of so many bytes.
struct Held {
  std::int64_t bytes = 0;
  std::int64_t of = 0;
};

/// Bytes that anybody may hold whatever the input: stacks, the allocator's own, and what libraries
/// set up when they are first used.
inline constexpr std::int64_t kProcessBytes = std::int64_t{2} << 20;

/// 30 calls in a fresh process, each of which returns `want`, hold kProcessBytes more than five at
/// most: what a call allocates it frees. Who forgets 84 KiB in each holds more. What is kept on
/// purpose, or by an allocator, is there after five. Ends the check as unmeasured where the machine
/// cannot tell.
void require_freed(Probe& probe, CallBase& call, std::int64_t want = 0);

/// Bytes held for each byte of input: the slope between a small and a large one, or what either
/// shows by itself where that is more. The slope alone is lower for who holds more than it needs
/// for the small one.
double held_per_byte(const Held& small, const Held& large);

}  // namespace gauntlet::kit
