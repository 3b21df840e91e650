// SPDX-License-Identifier: Apache-2.0
// Entries as integers that sort like the contract's order: by value, and among equals by index.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "lanes.h"

namespace fused {

// Integers in the order of the floats; -0 and +0 are one.
inline int32_t order_of(float value) {
  const int32_t bits = std::bit_cast<int32_t>(value + 0.0f);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

inline IntLanes order_of(Lanes values) {
  const auto bits = reinterpret_cast<IntLanes>(values + 0.0f);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

// Larger is better: by value, and among equals by smaller position.
inline uint64_t key_of(int32_t order, int64_t position) {
  const auto high = static_cast<uint64_t>(static_cast<uint32_t>(order) ^ 0x80000000u);
  return high << 32 | static_cast<uint32_t>(~static_cast<uint32_t>(position));
}
inline int64_t position_of(uint64_t key) {
  return static_cast<int64_t>(~static_cast<uint32_t>(key));
}
inline int32_t order_in(uint64_t key) {
  return static_cast<int32_t>(static_cast<uint32_t>(key >> 32) ^ 0x80000000u);
}

// Both sort descending, into `keys`. A short list is sorted by counting who is larger, which
// vectorises; a long one byte by byte, leaving out the bytes in which all keys agree.
inline void count_sort(std::vector<uint64_t>& keys, std::vector<uint64_t>& scratch) {
  scratch.resize(keys.size());
  for (const uint64_t key : keys) {
    uint64_t rank = 0;
    for (const uint64_t other : keys) rank += other > key;
    scratch[rank] = key;
  }
  keys.swap(scratch);
}

inline void radix_sort(std::vector<uint64_t>& keys, std::vector<uint64_t>& scratch) {
  constexpr int kBytes = 8;
  constexpr size_t kDigits = 256;
  std::array<std::array<uint32_t, kDigits>, kBytes> starts{};
  for (const uint64_t key : keys)
    for (int byte = 0; byte < kBytes; ++byte) ++starts[byte][~key >> (8 * byte) & 0xff];
  scratch.resize(keys.size());
  for (int byte = 0; byte < kBytes; ++byte) {
    auto& start = starts[byte];
    if (start[~keys[0] >> (8 * byte) & 0xff] == keys.size()) continue;
    std::exclusive_scan(start.begin(), start.end(), start.begin(), 0u);
    for (const uint64_t key : keys) scratch[start[~key >> (8 * byte) & 0xff]++] = key;
    keys.swap(scratch);
  }
}

inline void sort_keys(std::vector<uint64_t>& keys, std::vector<uint64_t>& scratch) {
  constexpr size_t kShort = 160;
  keys.size() <= kShort ? count_sort(keys, scratch) : radix_sort(keys, scratch);
}

}  // namespace fused
