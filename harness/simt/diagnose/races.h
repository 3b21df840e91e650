// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "harness/simt/diagnose/block_clocks.h"
#include "harness/simt/diagnose/race_cell.h"

namespace gauntlet::simt {

/// Two accesses to the same shared memory, one of which writes, with no barrier between them. They
/// are found whatever the schedule and whether or not the result is wrong, if both are executed.
/// What is ordered by barriers is never reported; a polled flag in shared memory orders nothing
/// here.
class SharedRaces {
 public:
  /// Memory is told apart in units of `granule` bytes; of 0 bytes nothing is looked for.
  SharedRaces(std::size_t bytes, std::uint32_t granule)
      : granule_(granule), cells_((bytes + granule - 1) / granule) {}

  bool enabled() const { return !cells_.empty(); }
  void start();  // of another block

  std::optional<AccessEvent> note(const BlockClocks& clocks, std::uint32_t thread, std::size_t at,
                                  std::size_t bytes, AccessKind kind);

 private:
  std::uint32_t granule_;
  std::vector<RaceCell> cells_;
};

/// What a block has learnt from others: up to which time at which addresses. Held by the block.
struct Handovers {
  std::uint64_t fenced_at = 0;  // time of its last fence that reaches other blocks
  std::map<std::uint64_t, std::uint64_t> acquired;
};

/// The same for global memory within one launch. Two blocks are ordered where one writes, calls
/// __threadfence and then an atomic (or a volatile or releasing store), and the other reads that
/// location by an atomic (or a volatile or acquiring load) before it touches what was written: what
/// "the last block sums up" and chained scans do. What other threads of a block wrote is handed
/// over only where a barrier orders it before that atomic.
class GlobalRaces {
 public:
  GlobalRaces(std::size_t most_bytes, std::uint32_t granule)
      : granule_(granule), most_bytes_(most_bytes) {}

  struct Accessor {
    const BlockClocks& clocks;
    Handovers& handovers;
    std::uint32_t block;
    std::uint32_t thread;
  };
  std::optional<AccessEvent> note(const Accessor& by, std::uint64_t address, std::size_t bytes,
                                  AccessKind kind);

  /// Time passes, so that what happened before can be told from what happens after.
  void fence(Handovers& handovers) { handovers.fenced_at = ++time_; }
  /// An access at `address` that hands over what its block did before its last fence.
  void release(const Accessor& by, std::uint64_t address);
  /// An access at `address` that learns what was handed over there.
  void acquire(const Accessor& by, std::uint64_t address);

  bool complete() const { return complete_; }

 private:
  struct Release {
    std::uint64_t covers;  // what happened before this time
    std::uint64_t at;
    std::uint32_t warp;
    std::uint32_t lanes;     // that made it: what they did themselves is handed over as well
    BlockClocks::Seen seen;  // by these

    bool hands_over(const AccessEvent& event) const {
      const std::uint32_t of = event.thread / kLanes;
      const bool own = of == warp && (lanes >> event.thread % kLanes & 1u) != 0;
      return event.time < covers && (own || event.clock < seen[of]);
    }
  };
  using ByBlock = std::unordered_map<std::uint32_t, std::vector<Release>>;

  RaceCell* cell_at(std::uint64_t unit);
  bool handed_over(const AccessEvent& event, const Handovers& handovers) const;

  std::uint32_t granule_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  bool complete_ = true;
  std::uint64_t time_ = 1;
  std::uint64_t last_page_ = ~0ull;
  std::vector<RaceCell>* last_cells_ = nullptr;
  std::unordered_map<std::uint64_t, std::vector<RaceCell>> pages_;
  std::unordered_map<std::uint64_t, ByBlock> releases_;
};

}  // namespace gauntlet::simt
