// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/output_check.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/worker/postmortem.h"

namespace gauntlet {
namespace {

[[noreturn]] void refuse(const CallBase& call, const std::string& text) {
  throw SolutionFailure(Verdict::wrong, fmt::format("`{}` wrote {}", call.symbol, text));
}

void check_poison(const CallBase& call, const Buffer& buffer, const Body& body,
                  const std::byte* arena) {
  const auto touched = [](std::byte b) { return b != std::byte{kPoison}; };
  const std::byte* before = std::find_if(arena + body.first_page, arena + body.start, touched);
  if (before != arena + body.start)
    refuse(call, fmt::format("{} bytes before the start of `{}`", arena + body.start - before,
                             buffer.name));
  for (const std::byte* last = arena + body.last_page; last != arena + body.end; --last)
    if (touched(last[-1]))
      refuse(call,
             fmt::format("{} bytes past the end of `{}`", last - (arena + body.end), buffer.name));
}

}  // namespace

void check_surroundings(const CallBase& call, const Layout& layout, const SharedMemory& out) {
  for (std::size_t i = 0; i < layout.bodies.size(); ++i)
    if (layout.bodies[i].arena == wire::ArenaId::out)
      check_poison(call, call.buffers()[i], layout.bodies[i], out.base());
  for (const auto& [begin, end] : layout.gaps(wire::ArenaId::out, out.bytes())) {
    const std::size_t found = out.first_written(begin, end);
    if (found == end) continue;
    const std::string place = name_place(call, layout, wire::ArenaId::out, found);
    refuse(call, place.empty() ? "outside its buffers" : place + ", on a page that was protected");
  }
}

}  // namespace gauntlet
