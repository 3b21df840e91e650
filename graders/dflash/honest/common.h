// SPDX-License-Identifier: Apache-2.0
// What all variants share about a tree: which are refused, where its rows lie, and dflash_build and
// dflash_verify around build_tree and decide, which are a variant's own. Helpers have no external
// linkage: a self test is loaded beside a variant, and may have names like these.
#ifndef COMMON_H  // and no pragma: a mutant has a changed copy of this file for its main file
#define COMMON_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "contract.h"

namespace {

template <class T>
using List = std::vector<T>;

bool valid_tree(const std::int32_t* parent, std::int64_t nodes) {
  for (std::int64_t i = 0; i < nodes; ++i)
    if (parent[i] < -1 || parent[i] >= i) return false;
  return nodes >= 0 && nodes <= 65535;
}

bool valid_trees(const std::int64_t* start, const std::int32_t* parent, std::int64_t trees) {
  if (start[0] != 0) return false;
  for (std::int64_t t = 0; t < trees; ++t)
    if (start[t + 1] < start[t]) return false;
  // Only now is it known that each has its nodes within the array.
  for (std::int64_t t = 0; t < trees; ++t)
    if (!valid_tree(parent + start[t], start[t + 1] - start[t])) return false;
  return true;
}

bool is_end(const std::int32_t* eos, std::int64_t num_eos, std::int32_t token) {
  return std::find(eos, eos + num_eos, token) != eos + num_eos;
}

struct Tree {
  std::int64_t nodes;
  const std::int32_t* parent;
  const std::int32_t* token;
  const float* logits;  // row 0 is the root's, row i + 1 that of node i
  std::int64_t vocab;
  std::int64_t stride;

  /// The target's choice after a row: the lowest id among the largest logits.
  std::int32_t choice(std::int64_t row) const {
    const float* logit = logits + row * stride;
    std::int32_t best = 0;
    for (std::int32_t j = 1; j < vocab; ++j)
      if (logit[j] > logit[best]) best = j;
    return best;
  }
};

struct Decision {
  List<std::int32_t> emit;
  List<std::int32_t> path;
};

/// Writes mask and position of a tree's rows.
void build_tree(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                std::int64_t context_length, std::uint64_t* mask, std::int64_t* position);

/// What the target would have said, and the nodes that said so first.
Decision decide(const Tree& tree, const std::int32_t* eos, std::int64_t num_eos,
                std::int64_t max_emit);

}  // namespace

std::int64_t dflash_build(const DflashBuildArgs* args) {
  const DflashBuildArgs& a = *args;
  if (a.abi_version != DFLASH_ABI_VERSION || a.device != DFLASH_HOST) return DFLASH_UNSUPPORTED;
  if (a.num_threads < 1 || a.num_trees < 0 || a.mask_words < 0) return DFLASH_BAD_ARGUMENT;
  if (!valid_trees(a.node_start, a.parent, a.num_trees)) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < a.num_trees; ++t)
    if (a.context_length[t] < 0 || a.node_start[t + 1] - a.node_start[t] + 1 > 64 * a.mask_words)
      return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < a.num_trees; ++t) {
    const std::int64_t node = a.node_start[t];
    build_tree(a.parent + node, a.node_start[t + 1] - node, a.mask_words, a.context_length[t],
               a.mask + (node + t) * a.mask_words, a.position + node + t);
  }
  return DFLASH_OK;
}

std::int64_t dflash_verify(const DflashVerifyArgs* args) {
  const DflashVerifyArgs& a = *args;
  if (a.abi_version != DFLASH_ABI_VERSION || a.device != DFLASH_HOST) return DFLASH_UNSUPPORTED;
  if (a.num_threads < 1 || a.num_trees < 0 || a.vocab < 1 || a.num_eos < 0)
    return DFLASH_BAD_ARGUMENT;
  if (a.logits_stride < a.vocab) return DFLASH_BAD_ARGUMENT;
  if (!valid_trees(a.node_start, a.parent, a.num_trees)) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < a.num_trees; ++t)
    if (a.max_emit[t] < 0) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t t = 0; t < a.num_trees; ++t) {
    const std::int64_t node = a.node_start[t];
    const Tree tree{a.node_start[t + 1] - node,
                    a.parent + node,
                    a.token + node,
                    a.logits + (node + t) * a.logits_stride,
                    a.vocab,
                    a.logits_stride};
    const Decision decision = decide(tree, a.eos, a.num_eos, a.max_emit[t]);
    std::copy(decision.emit.begin(), decision.emit.end(), a.emit + node + t);
    std::copy(decision.path.begin(), decision.path.end(), a.path + node + t);
    a.num_emit[t] = static_cast<std::int64_t>(decision.emit.size());
    a.num_path[t] = static_cast<std::int64_t>(decision.path.size());
  }
  return DFLASH_OK;
}

#if __INCLUDE_LEVEL__ == 0
#include "whole.h"
#endif
#endif
