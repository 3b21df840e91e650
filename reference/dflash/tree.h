// SPDX-License-Identifier: Apache-2.0
#pragma once

// Draft trees: whether they are any, and their masks and positions.
#include <algorithm>
#include <cstdint>
#include <cstring>

constexpr std::int64_t kMaxNodes = 65535;

struct Tree {
  const std::int32_t* parent;
  const std::int32_t* token;
  std::int64_t nodes;
};

inline bool valid(const std::int32_t* parent, std::int64_t nodes) {
  if (nodes > kMaxNodes) return false;
  bool good = true;
  for (std::int64_t i = 0; i < nodes; ++i) good &= parent[i] >= -1 && parent[i] < i;
  return good;
}

inline bool valid(const std::int64_t* node_start, const std::int32_t* parent, std::int64_t trees,
                  std::int64_t most_rows) {
  if (node_start[0] != 0) return false;
  for (std::int64_t t = 0; t < trees; ++t)
    if (node_start[t + 1] < node_start[t] || node_start[t + 1] - node_start[t] >= most_rows)
      return false;
  // Only now is it known that each has its nodes within the array.
  for (std::int64_t t = 0; t < trees; ++t)
    if (!valid(parent + node_start[t], node_start[t + 1] - node_start[t])) return false;
  return true;
}

inline bool none_negative(const std::int64_t* values, std::int64_t count) {
  return std::all_of(values, values + count, [](std::int64_t value) { return value >= 0; });
}

template <std::int64_t kWords>
void build_rows(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                std::int64_t context_length, std::uint64_t* mask, std::int64_t* position) {
  if (kWords > 0) words = kWords;  // a constant, so that rows are copied without a call
  std::memset(mask, 0, static_cast<std::size_t>(words) * sizeof *mask);
  mask[0] = 1;
  position[0] = context_length;
  for (std::int64_t row = 1; row <= nodes; ++row) {
    const std::int64_t above = parent[row - 1] + 1;
    std::memcpy(mask + row * words, mask + above * words,
                static_cast<std::size_t>(words) * sizeof *mask);
    mask[row * words + row / 64] |= std::uint64_t{1} << (row % 64);
    position[row] = position[above] + 1;
  }
}

inline void build_tree(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                       std::int64_t context_length, std::uint64_t* mask, std::int64_t* position) {
  const auto build = words == 1   ? build_rows<1>
                     : words == 2 ? build_rows<2>
                     : words == 4 ? build_rows<4>
                                  : build_rows<0>;
  build(parent, nodes, words, context_length, mask, position);
}
