// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gauntlet::simt {

/// Which bytes of a memory were written: a bit for each.
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
