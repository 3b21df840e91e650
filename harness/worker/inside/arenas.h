// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "harness/worker/inside/kept_memory.h"
#include "harness/worker/protocol.h"

namespace gauntlet::inside {

/// The worker's view of the shared memory. Both arenas are mapped as a whole, and every page of
/// them faults except the order, the mailbox and the bodies of the current call's buffers. A
/// solution can open the others too; it can give none back, so that all it used is still there when
/// the harness counts.
class Arenas {
 public:
  /// Maps and closes the descriptors that the harness handed over.
  explicit Arenas(bool with_device);

  wire::Control& control() { return *control_; }
  const wire::Order& order() const { return *reinterpret_cast<const wire::Order*>(in_.base); }
  const std::byte* device() const { return device_.base; }  // the mailbox; null: none
  const KeptRange& kept() const { return kept_.range; }     // all of them lie in it
  std::byte* at(wire::ArenaId arena, std::uint64_t offset) {
    return (arena == wire::ArenaId::in ? in_ : out_).base + offset;
  }

  /// Opens the order's ranges and nothing else, and maps their pages, so that no page fault is
  /// counted as the solution's time. Those of an arena with which the last order began as well are
  /// left as they are.
  void lay(const wire::Order& order);

 private:
  struct Mapping {
    std::byte* base;
    std::size_t bytes;
  };
  Mapping map(int fd, int protection);
  void open_range(const wire::Range& range);
  void shut_open_ranges(wire::ArenaId arena, std::uint64_t from);
  std::uint64_t same_until(const wire::Order& order, wire::ArenaId arena) const;

  KeptMemory kept_;
  std::byte* next_;  // place of the next mapping
  wire::Control* control_;
  Mapping in_;
  Mapping out_;
  Mapping device_;
  std::uint32_t open_count_ = 0;
  wire::Range open_[2 * wire::kMaxBuffers];
};

}  // namespace gauntlet::inside
