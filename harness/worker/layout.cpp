// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/layout.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"

namespace gauntlet {
namespace {

using wire::kPage;

// Between two bodies: a wrong index that is off by a whole row still lands on pages that fault.
constexpr std::size_t kGap = 16 * kPage;
constexpr std::size_t kLargestMailbox = std::size_t{64} << 20;

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

/// The highest start that is `skew` after a multiple of the alignment and leaves the buffer before
/// the page at `last_page`.
Body place(const Buffer& buffer, wire::ArenaId arena, std::size_t first_page) {
  const auto& [alignment, skew] = buffer.placement;
  const std::size_t last_page = first_page + whole_pages(buffer.bytes + alignment + skew);
  const std::size_t start = (last_page - buffer.bytes - skew) / alignment * alignment + skew;
  // The estimate above may have taken a page too many.
  const std::size_t unused = (start - first_page) / kPage * kPage;
  return {arena, first_page, start - unused, start - unused + buffer.bytes, last_page - unused};
}

void check_order_limits(const CallBase& call) {
  if (call.buffers().size() > wire::kMaxBuffers || call.callbacks().size() > wire::kMaxCallbacks ||
      call.arguments().size() > wire::kMaxArguments || call.symbol.size() >= wire::kMaxName)
    throw Broken(
        OwnFault::bug,
        fmt::format("call of {}: at most {} buffers, {} callbacks and {} bytes of arguments",
                    call.symbol, wire::kMaxBuffers, wire::kMaxCallbacks, wire::kMaxArguments));
  for (const Callback& callback : call.callbacks())
    if (callback.arrays.size() > wire::kMaxArrays || callback.request_bytes > wire::kMaxRequest)
      throw Broken(OwnFault::bug,
                   fmt::format("callback {}: at most {} arrays and {} bytes of request",
                               callback.name, wire::kMaxArrays, wire::kMaxRequest));
}

}  // namespace

Layout lay_out(const CallBase& call, std::size_t arena_bytes) {
  check_order_limits(call);
  Layout layout;
  if (!call.callbacks().empty())
    layout.mailbox_bytes = std::min(kLargestMailbox, arena_bytes / 4 / kPage * kPage);
  std::size_t in_used = wire::kOrderBytes;
  std::size_t out_used = layout.mailbox_bytes;
  for (const Buffer& buffer : call.buffers()) {
    const bool in = buffer.direction == Direction::in;
    std::size_t& used = in ? in_used : out_used;
    if (buffer.bytes < arena_bytes)
      layout.bodies.push_back(
          place(buffer, in ? wire::ArenaId::in : wire::ArenaId::out, used + kGap));
    if (buffer.bytes >= arena_bytes || layout.bodies.back().last_page + kGap > arena_bytes)
      throw Broken(OwnFault::bug, fmt::format("call of {}: its buffers do not fit into the arenas "
                                              "of {} MiB from `{}` on (arena_mib)",
                                              call.symbol, arena_bytes >> 20, buffer.name));
    used = layout.bodies.back().last_page;
  }
  return layout;
}

std::vector<wire::Range> Layout::ranges() const {
  std::vector<wire::Range> all;
  // Most of a mailbox is never used: its pages come with their first use.
  if (mailbox_bytes > 0) all.push_back({wire::ArenaId::out, 0, mailbox_bytes, false});
  for (const Body& body : bodies)
    if (body.last_page > body.first_page)
      all.push_back({body.arena, body.first_page, body.last_page - body.first_page, true});
  return all;
}

std::size_t Layout::body_bytes() const {
  std::size_t sum = 0;
  for (const wire::Range& range : ranges())
    if (range.populate) sum += range.bytes;
  return sum;
}

std::vector<std::pair<std::size_t, std::size_t>> Layout::gaps(wire::ArenaId arena,
                                                              std::size_t arena_bytes) const {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  std::size_t begin = arena == wire::ArenaId::in ? wire::kOrderBytes : mailbox_bytes;
  for (const Body& body : bodies) {  // ascending, as lay_out places them
    if (body.arena != arena) continue;
    all.emplace_back(begin, body.first_page);
    begin = body.last_page;
  }
  all.emplace_back(begin, arena_bytes);
  return all;
}

}  // namespace gauntlet
