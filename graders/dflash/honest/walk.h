// SPDX-License-Identifier: Apache-2.0
// A walk from the root, and masks copied from parent to child.
#ifndef WALK_H  // and no pragma: a mutant has a changed copy of this file for its main file
#define WALK_H

#include <cstdint>

#include "common.h"

namespace {

void build_tree(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                std::int64_t context_length, std::uint64_t* mask, std::int64_t* position) {
  for (std::int64_t row = 0; row <= nodes; ++row) {
    const std::int64_t above = row == 0 ? -1 : parent[row - 1] + 1;
    for (std::int64_t word = 0; word < words; ++word)
      mask[row * words + word] = above < 0 ? 0 : mask[above * words + word];
    mask[row * words + row / 64] |= std::uint64_t{1} << (row % 64);
    position[row] = above < 0 ? context_length : position[above] + 1;
  }
}

/// From the root to the first child that carries the choice, as long as there is one.
Decision decide(const Tree& tree, const std::int32_t* eos, std::int64_t num_eos,
                std::int64_t max_emit) {
  Decision decision;
  std::int32_t current = -1;
  while (static_cast<std::int64_t>(decision.emit.size()) < max_emit) {
    const std::int32_t wanted = tree.choice(current + 1);
    std::int32_t next = -1;
    for (std::int32_t i = 0; i < tree.nodes && next < 0; ++i)
      if (tree.parent[i] == current && tree.token[i] == wanted) next = i;
    decision.emit.push_back(wanted);
    if (next < 0) break;
    decision.path.push_back(next);
    if (is_end(eos, num_eos, wanted)) break;
    current = next;
  }
  return decision;
}

}  // namespace

#if __INCLUDE_LEVEL__ == 0
#include "whole.h"
#endif
#endif
