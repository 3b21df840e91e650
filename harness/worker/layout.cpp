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

/// Of a part of an array whose first part has this body.
Body place_behind(const Buffer& buffer, const Body& first) {
  const std::size_t start = first.start + buffer.behind->bytes;
  return {first.arena, start / kPage * kPage, start, start + buffer.bytes,
          whole_pages(start + buffer.bytes)};
}

/// How much of an arena is laid out.
struct Used {
  std::size_t end = 0;   // of the last body, as an offset
  std::size_t hole = 0;  // of that, lies between parts that are far apart
};

bool fits(const Used& used, std::size_t arena_bytes) {
  return used.end + kGap - used.hole <= arena_bytes && used.hole <= kFarRoom;
}

/// Throws Broken where the part would lie in what was laid out before it.
Body lay_behind(const CallBase& call, const Buffer& buffer, const Body& first, Used& used) {
  const Body body = place_behind(buffer, first);
  if (body.first_page < used.end + kGap)
    throw Broken(OwnFault::bug,
                 fmt::format("call of {}: `{}` lies less than {} bytes behind what is before it",
                             call.symbol, buffer.name, kGap));
  used.hole += body.first_page - used.end;
  return body;
}

void check_order_limits(const CallBase& call) {
  if (call.buffers().size() + call.views().size() > wire::kMaxBuffers ||
      call.callbacks().size() > wire::kMaxCallbacks ||
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
  Used in{wire::kOrderBytes};
  Used out{layout.mailbox_bytes};
  for (const Buffer& buffer : call.buffers()) {
    const bool is_in = buffer.direction == Direction::in;
    Used& used = is_in ? in : out;
    if (buffer.bytes < arena_bytes) {
      layout.bodies.push_back(
          buffer.behind
              ? lay_behind(call, buffer, layout.bodies.at(buffer.behind->first), used)
              : place(buffer, is_in ? wire::ArenaId::in : wire::ArenaId::out, used.end + kGap));
      used.end = layout.bodies.back().last_page;
    }
    if (buffer.bytes >= arena_bytes || !fits(used, arena_bytes))
      throw Broken(OwnFault::bug, fmt::format("call of {}: its buffers do not fit into the arenas "
                                              "of {} MiB from `{}` on (arena_mib)",
                                              call.symbol, arena_bytes >> 20, buffer.name));
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

std::size_t Layout::begins_like(const Layout& other, wire::ArenaId arena) const {
  const auto in_arena = [arena](const Body& body) { return body.arena == arena; };
  std::size_t same = 0;
  for (auto own = bodies.begin(), its = other.bodies.begin();; ++own, ++its, ++same) {
    own = std::find_if(own, bodies.end(), in_arena);
    its = std::find_if(its, other.bodies.end(), in_arena);
    if (own == bodies.end() || its == other.bodies.end() || own->first_page != its->first_page ||
        own->last_page != its->last_page)
      return same;
  }
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
