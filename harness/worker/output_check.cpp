// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/output_check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

#include "harness/worker/postmortem.h"

namespace gauntlet {
namespace {

/// By a byte's place. As 16, 32 or 64 bits, begun at any even place, NaN.
constexpr std::array kAround{std::byte{0xFD}, std::byte{0x7F}, std::byte{0xFE}, std::byte{0x7F}};

constexpr std::size_t kStretch = 4096;  // bytes that are written and compared at once

/// As they are from a place on that kAround begins at, and long enough to begin later.
constexpr auto kPattern = [] {
  std::array<std::byte, kStretch + kAround.size()> pattern{};
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = kAround[i % kAround.size()];
  return pattern;
}();

/// For stretches of [begin, end), with the bytes that are to be there.
template <class Stretch>
void each_stretch(std::size_t begin, std::size_t end, Stretch stretch) {
  static_assert(kStretch % kAround.size() == 0);
  const std::byte* pattern = kPattern.data() + begin % kAround.size();
  for (std::size_t place = begin; place < end; place += kStretch)
    stretch(place, pattern, std::min(kStretch, end - place));
}

bool is_untouched(const std::byte* arena, std::size_t begin, std::size_t end) {
  bool untouched = true;
  each_stretch(begin, end, [&](std::size_t place, const std::byte* pattern, std::size_t bytes) {
    untouched = untouched && std::memcmp(arena + place, pattern, bytes) == 0;
  });
  return untouched;
}

[[noreturn]] void refuse(const CallBase& call, const std::string& text) {
  throw SolutionFailure(Verdict::wrong, fmt::format("`{}` wrote {}", call.symbol, text));
}

void check_around(const CallBase& call, const Buffer& buffer, const Body& body,
                  const std::byte* arena) {
  if (!is_untouched(arena, body.first_page, body.start)) {
    std::size_t place = body.first_page;
    while (is_untouched(arena, place, place + 1)) ++place;
    refuse(call, fmt::format("{} bytes before the start of `{}`", body.start - place, buffer.name));
  }
  if (!is_untouched(arena, body.end, body.last_page)) {
    std::size_t last = body.last_page;
    while (is_untouched(arena, last - 1, last)) --last;
    refuse(call, fmt::format("{} bytes past the end of `{}`", last - body.end, buffer.name));
  }
}

}  // namespace

void surround(std::byte* arena, std::size_t begin, std::size_t end) {
  each_stretch(begin, end, [&](std::size_t place, const std::byte* pattern, std::size_t bytes) {
    std::memcpy(arena + place, pattern, bytes);
  });
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
