#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gauntlet {

/// XXH64 (Collet, xxHash specification 0.1.1): tells one array of bytes from another at the speed
/// of memory. It is no SHA-256: whoever wants two arrays of the same hash can make them.
std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace gauntlet
