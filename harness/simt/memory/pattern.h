// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "harness/simt/decode/instr.h"

namespace gauntlet::simt {

using LaneAddresses = std::array<std::uint64_t, kLanes>;

/// How the lanes of a warp lie to each other in one access. Instructions repeat theirs, so that
/// what follows from it is worked out once and then only compared; and what sectors and banks make
/// of it only when it is asked.
struct Pattern {
  std::uint32_t mask = 0;   // lanes that take part; 0: nothing was worked out yet
  std::uint64_t phase = 0;  // first address modulo kPhase, which sectors and banks depend on
  LaneAddresses offsets{};  // from the address of the first lane; 0 where a lane takes no part

  std::uint64_t low = 0;     // from the first lane's address to the lowest, zero or negative
  std::uint64_t span = 0;    // from the lowest to the highest address, and the bytes of one lane
  bool uniform = false;      // all lanes at one address
  bool consecutive = false;  // all 32 lanes, one behind the other
  bool aligned = false;      // each address is a multiple of the lane's bytes
  bool orderly = false;      // the lanes lie within 2^40 bytes

  static constexpr std::uint64_t kPhase = 128;

  // What sectors_of and passes_of know already of where the lanes lie; 0: nothing.
  std::uint32_t sectors = 0, wavefronts = 0, least_wavefronts = 0;
};

/// Brings a pattern up to date: does nothing where the lanes lie as they did. `lane_bytes` is a
/// power of two, 32 at the most, and for one pattern always the same.
void update(Pattern& pattern, const LaneAddresses& addresses, std::uint32_t mask,
            std::uint32_t lane_bytes);

/// Distinct aligned blocks of 32 bytes that an orderly pattern touches.
std::uint32_t sectors_of(Pattern& pattern, std::uint32_t lane_bytes);

/// Passes through 32 banks of 4 bytes.
struct Passes {
  std::uint32_t taken = 0;
  std::uint32_t least = 0;  // as many as the distinct words need
};
Passes passes_of(Pattern& pattern, std::uint32_t lane_bytes);

}  // namespace gauntlet::simt
