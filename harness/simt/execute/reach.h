// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "harness/simt/execute/grid.h"

namespace gauntlet::simt {

enum class Touch : std::uint8_t { read, write, atomic };

/// Lanes of one access that lie in one memory: one region, the block's shared memory, or the local
/// memories of its threads. All of them may do what they are about to do.
struct Reach {
  ptx::Space space = ptx::Space::global;
  std::uint32_t mask = 0;
  Region* region = nullptr;          // of global and constant memory
  const Pattern* pattern = nullptr;  // of the addresses in the space
  std::uint64_t begin = 0;           // offset of the first lane in its memory
  std::byte* first = nullptr;        // where that is
  std::uint64_t stride = 0;          // from one lane's local memory to the next one's

  std::byte* lane(std::uint32_t l) const {
    const std::uint64_t behind =
        pattern->offsets[l] + stride * (l - std::uint32_t(std::countr_zero(mask)));
    return first + static_cast<std::int64_t>(behind);
  }
  std::uint64_t offset(std::uint32_t l) const { return begin + pattern->offsets[l]; }
  bool is_uniform() const { return pattern->uniform && stride == 0; }
  bool is_consecutive() const { return pattern->consecutive && stride == 0; }
};

/// One access of a warp, taken apart until every part is a Reach. What no thread may touch is
/// reported and left out; traffic is counted.
class Reaching {
 public:
  Reaching(Warp& warp, const Instr& instr, std::uint32_t mask, std::uint32_t address_slot,
           Touch touch);

  /// The next part; false when there is none left.
  bool next(Reach& reach);

 private:
  Pattern& apart() { return apart_ ? *apart_ : apart_.emplace(); }
  bool next_space();
  bool all_of(Reach& reach);
  bool some_of(Reach& reach);
  bool enter(Reach& reach, std::uint32_t mask, Pattern& pattern);
  void count(const Reach& reach, Pattern& pattern);
  bool is_sound(std::uint32_t lane, Region* region);
  void report(Fault fault, std::uint32_t lane, const Region* region);

  Warp& warp_;
  Grid& grid_;
  const Instr& instr_;
  const Touch touch_;
  const std::uint32_t bytes_;  // of a lane
  std::uint32_t waiting_;      // lanes of other spaces than this one
  std::uint32_t left_ = 0;     // lanes of this space
  ptx::Space space_;
  LaneAddresses addresses_;       // of lanes in left_: in space_; of those that wait: as given
  std::optional<Pattern> apart_;  // of parts, where one pattern does not do
};

// What is asked of memory that is about to be touched, where the options of the launch say so.

/// Undefined bytes and races; each lane reads.
void check_read(Warp& warp, const Instr& instr, const Reach& reach);
/// Of one lane that writes; `changes` when it writes other bytes than are there.
void check_write(Warp& warp, const Instr& instr, const Reach& reach, std::uint32_t lane,
                 bool changes);
void check_atomic(Warp& warp, const Instr& instr, const Reach& reach);

/// All bytes that the reach writes are defined from now on, and a kernel's.
void define(Warp& warp, const Instr& instr, const Reach& reach);

/// Whether writes to this memory are looked at lane by lane.
bool looks_for_races(Warp& warp, const Reach& reach);

}  // namespace gauntlet::simt
