// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/execute/device_printf.h"

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <optional>

#include "harness/core/text.h"
#include "harness/simt/execute/grid.h"
#include "harness/simt/memory/address.h"

namespace gauntlet::simt {
namespace {

constexpr std::size_t kLongestText = 4096;  // of a format, or of a %s

/// Bytes at a generic address as one thread sees them; nothing where it may not look.
std::optional<std::string_view> peek(Warp& warp, std::uint32_t lane, std::uint64_t address,
                                     std::size_t bytes) {
  const auto part = [&](const std::byte* memory, std::uint64_t at,
                        std::uint64_t size) -> std::optional<std::string_view> {
    if (bytes > size || at > size - bytes) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(memory) + at, bytes);
  };
  ThreadBlock& block = warp.block();
  switch (space_of(address)) {
    case ptx::Space::shared:
      return part(block.shared().data(), address - kSharedWindow, block.shared().size());
    case ptx::Space::local:
      return part(block.local(warp.thread_number(lane)), address - kLocalWindow,
                  block.local_bytes());
    default: {
      const Region* const region = warp.grid().memory.find(address);
      if (region == nullptr || !region->is_mapped) return std::nullopt;
      return part(region->bytes.data(), address - region->address, region->bytes.size());
    }
  }
}

std::string text_at(Warp& warp, std::uint32_t lane, std::uint64_t address) {
  std::string text;
  while (text.size() < kLongestText) {
    const auto next = peek(warp, lane, address + text.size(), 1);
    if (!next || (*next)[0] == '\0') break;
    text += (*next)[0];
  }
  return text;
}

/// The arguments of one call, which clang packs by their own alignments.
class Arguments {
 public:
  Arguments(Warp& warp, std::uint32_t lane, std::uint64_t address)
      : warp_(warp), lane_(lane), address_(address) {}

  template <class T>
  T take() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (const auto bytes = peek(warp_, lane_, address_ + at_, sizeof(T)))
      std::memcpy(&value, bytes->data(), sizeof(T));
    at_ += sizeof(T);
    ++taken_;
    return value;
  }
  std::uint32_t taken() const { return taken_; }

 private:
  Warp& warp_;
  std::uint32_t lane_;
  std::uint64_t address_;
  std::size_t at_ = 0;
  std::uint32_t taken_ = 0;
};

template <class T>
std::string formatted(const std::string& specification, T value) {
  std::array<char, 512> text{};
  const int size = std::snprintf(text.data(), text.size(), specification.c_str(), value);
  return {text.data(), std::min<std::size_t>(size < 0 ? 0 : std::size_t(size), text.size() - 1)};
}

/// One "%..." from `at` on; moves `at` behind it.
std::string conversion(Warp& warp, std::uint32_t lane, const std::string& format, std::size_t& at,
                       Arguments& arguments) {
  std::string head = "%";
  std::size_t digits = 0;
  const auto width = [&] {
    if (at < format.size() && format[at] == '*') {
      ++at;
      head += std::to_string(arguments.take<int>() % 200);
      return;
    }
    for (digits = 0; at < format.size() && std::isdigit(static_cast<unsigned char>(format[at]));
         ++at)
      if (++digits <= 2) head += format[at];
  };
  while (at < format.size() && std::strchr("-+ #0", format[at]) != nullptr && head.size() < 8)
    head += format[at++];
  width();
  if (at < format.size() && format[at] == '.') {
    head += format[at++];
    width();
  }
  int longs = 0;
  for (; at < format.size() && std::strchr("lhzjt", format[at]) != nullptr; ++at)
    longs += format[at] == 'h' ? 0 : 1;
  const char kind = at < format.size() ? format[at++] : '%';
  switch (kind) {
    case '%':
      return "%";
    case 'c':
      return formatted(head + 'c', arguments.take<int>());
    case 'd':
    case 'i':
      return longs > 0 ? formatted(head + "lld", arguments.take<long long>())
                       : formatted(head + 'd', arguments.take<int>());
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return longs > 0 ? formatted(head + "ll" + kind, arguments.take<unsigned long long>())
                       : formatted(head + kind, arguments.take<unsigned int>());
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return formatted(head + kind, arguments.take<double>());
    case 'p':
      return fmt::format("{:#x}", arguments.take<std::uint64_t>());
    case 's':
      return text_at(warp, lane, arguments.take<std::uint64_t>());
    default:
      return head + kind;
  }
}

}  // namespace

void print_lanes(Frame& frame, const Instr& instr, std::uint32_t mask) {
  Warp& warp = static_cast<Warp&>(frame);
  auto* const result = warp.slot<std::uint32_t>(instr.slots[0]);
  const auto* const formats = warp.slot<std::uint64_t>(instr.slots[1]);
  const auto* const packed = warp.slot<std::uint64_t>(instr.slots[2]);
  std::string& output = warp.grid().output;
  const std::size_t most = warp.grid().options.most_output;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    result[lane] = 0;
    if (output.size() >= most) continue;
    const std::string format = text_at(warp, lane, formats[lane]);
    Arguments arguments(warp, lane, packed[lane]);
    for (std::size_t at = 0; at < format.size() && output.size() < most;) {
      if (format[at] != '%')
        output += format[at++];
      else
        output += conversion(warp, lane, format, ++at, arguments);
    }
    result[lane] = arguments.taken();
    if (output.size() > most) output.resize(most);
  }
}

void fail_assertion(Frame& frame, const Instr& instr, std::uint32_t mask) {
  Warp& warp = static_cast<Warp&>(frame);
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
  const std::string message = text_at(warp, lane, warp.slot<std::uint64_t>(instr.slots[0])[lane]);
  const std::string why = fmt::format("assertion '{}' failed", one_line(message, 200));
  warp.grid().fault(warp, instr, Fault::trap, lane, std::uint64_t(std::popcount(mask)),
                    [&] { return why; });
  warp.grid().stop(Status::trapped, instr.index, why);
}

}  // namespace gauntlet::simt
