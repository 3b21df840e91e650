// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/simt/diagnose/race_cell.h"

namespace gauntlet::simt {

/// What the barriers of a block order. Each warp has a clock that ticks when it passes a barrier of
/// its block or a __syncwarp; what it did before a tick is ordered before what those do afterwards
/// who met it there. Shuffles and votes order nothing, as PTX has it. A __syncwarp of some lanes is
/// taken for one of all.
class BlockClocks {
 public:
  /// By warp: before which of its ticks everything is ordered before what a thread does now.
  using Seen = std::array<std::uint32_t, kLanes>;

  explicit BlockClocks(std::uint32_t warps) : clocks_(warps), known_(warps) {}

  void start();                    // of a block that reuses this: clocks begin at 1
  void meet(std::uint32_t warps);  // a barrier completes for a set of warps
  void meet_in_warp(std::uint32_t warp) { ++clocks_[warp]; }

  std::uint32_t now(std::uint32_t warp) const { return clocks_[warp]; }

  Seen seen_by(std::uint32_t thread) const {
    const std::uint32_t warp = thread / kLanes;
    Seen seen = known_[warp];
    seen[warp] = clocks_[warp];
    return seen;
  }

  /// Whether an event of the same block is ordered before what `thread` does now.
  bool ordered(const AccessEvent& event, std::uint32_t thread) const {
    const std::uint32_t warp = thread / kLanes;
    const std::uint32_t other = event.thread / kLanes;
    return event.clock < (warp == other ? clocks_[warp] : known_[warp][other]);
  }

 private:
  std::vector<std::uint32_t> clocks_;
  std::vector<Seen> known_;  // by warp: how far it knows each other one
};

}  // namespace gauntlet::simt
