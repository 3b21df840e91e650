// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "harness/worker/call.h"
#include "harness/worker/protocol.h"

namespace gauntlet {

/// Where one buffer of a call lies. [start, end) is the buffer; [first_page, last_page) the pages
/// that the worker can touch for it, filled with NaNs around the buffer. The pages around those
/// fault.
struct Body {
  wire::ArenaId arena;
  std::size_t first_page;  // offsets in the arena, in bytes
  std::size_t start;
  std::size_t end;
  std::size_t last_page;

  bool operator==(const Body&) const = default;
};

/// Where everything of one call lies, in the order of its buffers.
struct Layout {
  std::vector<Body> bodies;
  std::size_t mailbox_bytes = 0;  // at the start of the out arena, when the call has callbacks

  bool operator==(const Layout&) const = default;

  std::vector<wire::Range> ranges() const;  // what the worker may touch
  std::size_t body_bytes() const;           // of those that are mapped from the start

  /// How many bodies of the arena, from its first one on, have the same pages in both.
  std::size_t begins_like(const Layout& other, wire::ArenaId arena) const;

  /// The stretches [begin, end) of an arena of so many bytes that hold no body, ascending; neither
  /// the order nor the mailbox is one of them.
  std::vector<std::pair<std::size_t, std::size_t>> gaps(wire::ArenaId arena,
                                                        std::size_t arena_bytes) const;
};

/// What an arena has beside its bytes: address space that parts of arrays may lie far apart
/// in. Four steps of 2^32 floats fit; they cost the memory of the parts.
constexpr std::size_t kFarRoom = std::size_t{72} << 30;

/// Every buffer ends as near to a faulting page as its placement allows, but a part that lies
/// behind another where it says. Throws Broken when the call does not fit into the arenas or into
/// an order.
Layout lay_out(const CallBase& call, std::size_t arena_bytes);

}  // namespace gauntlet
