// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "harness/simt/decode/instr.h"

namespace gauntlet::simt {

/// How an access takes part in a race. Two that are strong (atomics, volatile and relaxed accesses)
/// are never a race with each other.
struct AccessKind {
  bool writes = false;
  bool strong = false;
  bool changes = true;  // a write of what is there already races with nothing that came before it
};

/// An access to a place in memory that somebody may race with.
struct AccessEvent {
  std::uint32_t block = 0;   // of the grid
  std::uint32_t time = 0;    // of the grid, see GlobalRaces
  std::uint32_t clock = 0;   // of its warp, see BlockClocks; 0: there was no access
  std::uint16_t thread = 0;  // of its block
  bool strong = false;
  bool many = false;  // other lanes of the same warp read at this clock too

  bool same_warp(const AccessEvent& other) const {
    return block == other.block && thread / kLanes == other.thread / kLanes;
  }
};

/// What is remembered of a place: its last write, and the last reads of two warps.
class RaceCell {
 public:
  /// Notes an access and gives the one that it races with. `ordered(event)`: whether an event of
  /// another thread happened before this access for certain.
  template <class Ordered>
  std::optional<AccessEvent> note(const AccessEvent& now, AccessKind kind, const Ordered& ordered) {
    std::optional<AccessEvent> racing;
    const auto meet = [&](const AccessEvent& event) {
      if (event.clock == 0 || (event.strong && kind.strong)) return;
      const bool own = event.block == now.block && event.thread == now.thread && !event.many;
      if (!own && !ordered(event)) racing = event;
    };
    if (kind.changes) meet(write_);
    if (kind.writes) {
      if (kind.changes) meet(read_);
      if (kind.changes) meet(other_read_);
      // A plain write that its thread follows up with an atomic is still a plain write.
      const bool again =
          write_.block == now.block && write_.thread == now.thread && write_.clock == now.clock;
      const bool plain = again && !write_.strong;
      write_ = now;
      if (plain) write_.strong = false;
    } else {
      note_read(now);
    }
    return racing;
  }

 private:
  void note_read(const AccessEvent& now) {
    AccessEvent* mine = read_.clock != 0 && read_.same_warp(now)               ? &read_
                        : other_read_.clock != 0 && other_read_.same_warp(now) ? &other_read_
                                                                               : nullptr;
    if (mine == nullptr) {
      other_read_ = read_;
      read_ = now;
      return;
    }
    const AccessEvent before = *mine;
    *mine = now;
    if (before.clock != now.clock) return;
    mine->many = before.many || before.thread != now.thread;
    mine->strong = before.strong && now.strong;
  }

  AccessEvent write_, read_, other_read_;
};

}  // namespace gauntlet::simt
