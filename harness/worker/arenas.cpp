// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/arenas.h"

#include <cstring>

#include "harness/core/machine.h"
#include "harness/core/parallel.h"
#include "harness/worker/order.h"
#include "harness/worker/output_check.h"
#include "harness/worker/session.h"

namespace gauntlet {
namespace {

constexpr std::size_t kWorthThreads = std::size_t{4} << 20;  // bytes; a millisecond to write

/// Has ranges of offsets written, of large arrays on all cores: between the laps of a race it is
/// what most time goes to.
template <class Write>
void write_on_cores(std::size_t bytes, const Write& write) {
  const int threads = bytes < kWorthThreads ? 1 : this_machine().cores;
  const auto parts = static_cast<std::size_t>(threads);
  parallel_for(parts, threads, [&](std::size_t part) {
    const std::size_t begin = bytes / parts * part;
    write(begin, part + 1 == parts ? bytes : bytes / parts * (part + 1));
  });
}

void poison_from(std::byte* first, std::size_t bytes) {
  write_on_cores(bytes, [&](std::size_t begin, std::size_t end) {
    std::memset(first + begin, kPoison, end - begin);
  });
}

}  // namespace

Arenas::Arenas(std::size_t bytes_each)
    : in_("gauntlet-in", bytes_each + kFarRoom, SharedMemory::Writers::us),
      out_("gauntlet-out", bytes_each + kFarRoom, SharedMemory::Writers::us_and_it) {}

void Arenas::forget_calls(const Layout& last, const Layout& next) {
  out_.clear(0, next.mailbox_bytes);
  for (const wire::ArenaId arena : {wire::ArenaId::in, wire::ArenaId::out}) {
    SharedMemory& memory = arena == wire::ArenaId::in ? in_ : out_;
    const auto gaps = next.gaps(arena, memory.bytes());  // each before a body, and one at the end
    for (std::size_t i = next.begins_like(last, arena); i < gaps.size(); ++i)
      memory.clear(gaps[i].first, gaps[i].second);
  }
}

void Arenas::poison(const Layout& layout) {
  for (const Body& body : layout.bodies) {
    (body.arena == wire::ArenaId::in ? in_ : out_).populate(body.first_page, body.last_page);
    poison_from(base_of(body) + body.first_page, body.last_page - body.first_page);
  }
}

void Arenas::give_back_gaps(const Layout& layout) {
  for (const auto& [begin, end] : layout.gaps(wire::ArenaId::in, in_.bytes()))
    in_.give_back(begin, end);
  out_.give_back(0, layout.mailbox_bytes);
  for (const auto& [begin, end] : layout.gaps(wire::ArenaId::out, out_.bytes()))
    out_.give_back(begin, end);
}

void Arenas::share_out(const Layout& layout) {
  if (layout == shared_out_) return;
  forget_calls({}, layout);
  poison(layout);
  shared_out_ = layout;
}

void Arenas::place(CallBase& call, const Layout& layout) {
  write_call_order(order(), call, layout);
  for (std::size_t i = 0; i < layout.bodies.size(); ++i)
    write_body(call.buffers()[i], layout.bodies[i]);
}

std::byte* Arenas::base_of(const Body& body) const {
  return body.arena == wire::ArenaId::in ? in_.base() : out_.base();
}

void Arenas::write_body(const Buffer& buffer, const Body& body) {
  std::byte* arena = base_of(body);
  const auto fill = [&](std::size_t begin, std::size_t end) {
    if (body.arena == wire::ArenaId::out) return surround(arena, begin, end);
    std::memset(arena + begin, kPoison, end - begin);
  };
  fill(body.first_page, body.start);
  if (buffer.direction == Direction::out)
    poison_from(arena + body.start, buffer.bytes);
  else
    write_on_cores(buffer.bytes, [&](std::size_t begin, std::size_t end) {
      if (begin < end) std::memcpy(arena + body.start + begin, buffer.source + begin, end - begin);
    });
  fill(body.end, body.last_page);
}

void Arenas::check_surroundings(const CallBase& call, const Layout& layout) const {
  gauntlet::check_surroundings(call, layout, out_);
}

void Arenas::hand_over(CallBase& call, const Layout& layout) const {
  for (std::size_t i = 0; i < layout.bodies.size(); ++i) {
    const Body& body = layout.bodies[i];
    if (body.arena == wire::ArenaId::out)
      call.buffers()[i].result = {out_.base() + body.start, body.end - body.start};
  }
}

void Arenas::require_nobody_left() {
  if (!nobody_writes())
    throw SolutionFailure(Verdict::cheated, "a process of it outlived the end of its worker");
}

void RaceGround::close() {
  if (arenas) arenas->require_nobody_left();
  arenas.reset();
}

}  // namespace gauntlet
