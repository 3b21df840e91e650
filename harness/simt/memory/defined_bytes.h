// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gauntlet::simt {

/// A bit for each byte of a memory: which were written, which came from the host.
class DefinedBytes {
 public:
  /// None of `bytes` is defined. Without a call of this all are, whatever is asked.
  void forget(std::size_t bytes) {
    bits_.assign((bytes + 63) / 64, 0);
    tracked_ = true;
  }

  bool tracked() const { return tracked_; }

  /// Whether all of at .. at + count - 1 are, which lie inside. At most 64 bytes are asked at once
  /// by a lane; a whole warp asks for 512.
  bool has(std::size_t at, std::size_t count) const {
    return each_word(at, count, [&](std::size_t n, std::uint64_t wanted) {
      return (bits_[n] & wanted) == wanted;
    });
  }

  void add(std::size_t at, std::size_t count) {
    each_word(at, count, [&](std::size_t n, std::uint64_t wanted) {
      bits_[n] |= wanted;
      return true;
    });
  }

  void remove(std::size_t at, std::size_t count) {
    each_word(at, count, [&](std::size_t n, std::uint64_t unwanted) {
      bits_[n] &= ~unwanted;
      return true;
    });
  }

  /// How many of at .. at + count - 1 are set.
  std::size_t count_of(std::size_t at, std::size_t count) const {
    std::size_t set = 0;
    each_word(at, count, [&](std::size_t n, std::uint64_t wanted) {
      set += static_cast<std::size_t>(std::popcount(bits_[n] & wanted));
      return true;
    });
    return set;
  }

 private:
  template <class Visit>
  static bool each_word(std::size_t at, std::size_t count, const Visit& visit) {
    while (count > 0) {
      const std::size_t bit = at % 64;
      const std::size_t part = count < 64 - bit ? count : 64 - bit;
      const std::uint64_t ones = part == 64 ? ~0ull : (1ull << part) - 1;
      if (!visit(at / 64, ones << bit)) return false;
      at += part;
      count -= part;
    }
    return true;
  }

  std::vector<std::uint64_t> bits_;
  bool tracked_ = false;
};

}  // namespace gauntlet::simt
