// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way down a tree. Equal siblings are followed together, so that the longest path is found
// without reading more rows of logits.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tree.h"

struct Ends {
  const std::int32_t* token;
  std::int64_t count;
  bool hold(std::int32_t word) const {
    return std::find(token, token + count, word) != token + count;
  }
};

/// Verifies one tree after another with the same scratch memory.
class Verifier {
 public:
  std::int64_t num_emit = 0;
  std::int64_t num_path = 0;

  /// `choose(row)` is the target's choice after that row of the tree.
  template <class Choose>
  void walk(const Tree& tree, const Ends& ends, std::int64_t max_emit, const Choose& choose,
            std::int32_t* emit, std::int32_t* path) {
    link(tree);
    num_emit = num_path = 0;
    front_.assign(1, -1);
    std::int32_t tip = -1;
    while (num_emit < max_emit) {
      const std::int32_t wanted = choose(front_[0] + 1);
      emit[num_emit++] = wanted;
      advance(tree, wanted);
      if (front_.empty()) break;
      tip = front_[0];
      ++num_path;
      if (ends.hold(wanted)) break;
    }
    for (std::int64_t i = num_path; i-- > 0; tip = tree.parent[tip]) path[i] = tip;
  }

 private:
  /// Lists of children, by first child and next sibling, in order.
  void link(const Tree& tree) {
    first_.assign(static_cast<std::size_t>(tree.nodes) + 1, -1);
    next_.resize(static_cast<std::size_t>(tree.nodes));
    for (std::int64_t i = tree.nodes; i-- > 0;) {
      next_[i] = first_[tree.parent[i] + 1];
      first_[tree.parent[i] + 1] = static_cast<std::int32_t>(i);
    }
  }

  /// Nodes of `front_` spell the same text; so do their children that carry `wanted`.
  void advance(const Tree& tree, std::int32_t wanted) {
    ahead_.clear();
    for (const std::int32_t node : front_)
      for (std::int32_t child = first_[node + 1]; child >= 0; child = next_[child])
        if (tree.token[child] == wanted) ahead_.push_back(child);
    front_.swap(ahead_);
  }

  std::vector<std::int32_t> first_, next_, front_, ahead_;
};
