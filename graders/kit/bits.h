// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace gauntlet::kit {

/// True when nothing was written here: every byte is what outputs hold before a call. A NaN that a
/// solution wrote has other bits, and counts as written.
bool is_poison(std::span<const std::byte> memory);
template <std::ranges::contiguous_range Values>
bool is_poison(const Values& values) {
  return is_poison(std::span<const std::byte>(std::as_bytes(std::span(values))));
}
template <class Number>
requires std::is_arithmetic_v<Number>
bool is_poison(Number value) {
  return is_poison(std::as_bytes(std::span(&value, 1)));
}

/// Equal bit by bit: -0 differs from +0, and a NaN equals the same NaN.
template <std::ranges::contiguous_range A, std::ranges::contiguous_range B>
bool same_bits(const A& a, const B& b) {
  const auto first = std::as_bytes(std::span(a));
  const auto second = std::as_bytes(std::span(b));
  return first.size() == second.size() &&
         (first.empty() || std::memcmp(first.data(), second.data(), first.size()) == 0);
}

/// All of their bytes, one behind the other: to compare answers of which nothing else is known.
template <std::ranges::contiguous_range... Values>
std::vector<std::byte> bits_of(const Values&... values) {
  std::vector<std::byte> bits;
  const auto append = [&](std::span<const std::byte> bytes) {
    bits.insert(bits.end(), bytes.begin(), bytes.end());
  };
  (append(std::as_bytes(std::span(values))), ...);
  return bits;
}

/// The answer that was judged last: another one of the same bits needs no judging.
class JudgedBits {
 public:
  /// Unless they are those of the last answer, which they are from now on.
  template <std::ranges::contiguous_range... Values>
  bool are_new(const Values&... values) {
    std::size_t at = 0;
    const auto are_next = [&](std::span<const std::byte> bytes) {
      const auto known = std::span(bits_).subspan(std::min(at, bits_.size()));
      at += bytes.size();
      return known.size() >= bytes.size() && same_bits(known.first(bytes.size()), bytes);
    };
    const bool known = (are_next(std::as_bytes(std::span(values))) && ...) && at == bits_.size();
    if (!known) bits_ = bits_of(values...);
    return !known;
  }

 private:
  std::vector<std::byte> bits_;
};

}  // namespace gauntlet::kit
