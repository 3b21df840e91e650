// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/output_check.h"

#include <fmt/format.h>
#include <iterator>

#include "harness/worker/postmortem.h"

namespace gauntlet {
namespace {

/// By a byte's place. As 16, 32 or 64 bits, begun at any even place, NaN.
constexpr std::byte kAround[]{std::byte{0xFD}, std::byte{0x7F}, std::byte{0xFE}, std::byte{0x7F}};

bool is_touched(const std::byte* arena, std::size_t place) {
  return arena[place] != kAround[place % std::size(kAround)];
}

[[noreturn]] void refuse(const CallBase& call, const std::string& text) {
  throw SolutionFailure(Verdict::wrong, fmt::format("`{}` wrote {}", call.symbol, text));
}

void check_around(const CallBase& call, const Buffer& buffer, const Body& body,
                  const std::byte* arena) {
  for (std::size_t place = body.first_page; place < body.start; ++place)
    if (is_touched(arena, place))
      refuse(call,
             fmt::format("{} bytes before the start of `{}`", body.start - place, buffer.name));
  for (std::size_t last = body.last_page; last > body.end; --last)
    if (is_touched(arena, last - 1))
      refuse(call, fmt::format("{} bytes past the end of `{}`", last - body.end, buffer.name));
}

}  // namespace

void surround(std::byte* arena, std::size_t begin, std::size_t end) {
  for (std::size_t place = begin; place < end; ++place)
    arena[place] = kAround[place % std::size(kAround)];
}

void check_surroundings(const CallBase& call, const Layout& layout, const SharedMemory& out) {
  for (std::size_t i = 0; i < layout.bodies.size(); ++i)
    if (layout.bodies[i].arena == wire::ArenaId::out)
      check_around(call, call.buffers()[i], layout.bodies[i], out.base());
  for (const auto& [begin, end] : layout.gaps(wire::ArenaId::out, out.bytes())) {
    const std::size_t found = out.first_written(begin, end);
    if (found == end) continue;
    const std::string place = name_place(call, layout, wire::ArenaId::out, found);
    refuse(call, place.empty() ? "outside its buffers" : place + ", on a page that was protected");
  }
}

}  // namespace gauntlet
