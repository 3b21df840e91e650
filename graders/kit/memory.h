#pragma once

#include <cstdint>

namespace gauntlet::kit {

/// Bytes that a solution held for an input of so many bytes.
struct Held {
  std::int64_t bytes = 0;
  std::int64_t of = 0;
};

/// Bytes that anybody may hold whatever the input: stacks, the allocator's own, and what libraries
/// set up when they are first used.
inline constexpr std::int64_t kProcessBytes = std::int64_t{2} << 20;

/// Bytes held for each byte of input: the slope between a small and a large one, or what either
/// shows by itself where that is more. The slope alone is lower for who holds more than it needs
/// for the small one.
double held_per_byte(const Held& small, const Held& large);

}  // namespace gauntlet::kit
