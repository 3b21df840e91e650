// strategy: one sweep marks accepted nodes, then upwards from the deepest; masks slot by slot
// uses: where siblings carry the same token either may be followed, here the one that leads
// furthest down
// SPDX-License-Identifier: Apache-2.0
#include "rounds.h"

namespace {

/// Slot by slot: a row sees what its parent's row sees, and itself.
void build_tree(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                std::int64_t context_length, std::uint64_t* mask, std::int64_t* position) {
  std::fill_n(mask, (nodes + 1) * words, 0);
  std::fill_n(position, nodes + 1, context_length - 1);
  for (std::int64_t slot = 0; slot <= nodes; ++slot) {
    const std::int64_t word = slot / 64;
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    for (std::int64_t row = slot; row <= nodes; ++row) {
      if (row > slot && (mask[(parent[row - 1] + 1) * words + word] & bit) == 0) continue;
      mask[row * words + word] |= bit;
      ++position[row];
    }
  }
}

/// One sweep in list order says which nodes are accepted and how deep they lie; a node is when its
/// parent is and its token is what the target says after the parent. Then upwards from the deepest.
Decision decide(const Tree& tree, const std::int32_t* eos, std::int64_t num_eos,
                std::int64_t max_emit) {
  List<std::int64_t> depth(tree.nodes + 1, -1);  // by row; -1: not accepted
  List<std::int32_t> says(tree.nodes + 1, -1);   // computed for accepted rows only
  depth[0] = 0;
  says[0] = tree.choice(0);
  std::int64_t deepest = 0;
  for (std::int64_t row = 1; row <= tree.nodes; ++row) {
    const std::int64_t above = tree.parent[row - 1] + 1;
    const std::int32_t token = tree.token[row - 1];
    if (depth[above] < 0 || token != says[above] || depth[above] >= max_emit) continue;
    if (above > 0 && is_end(eos, num_eos, tree.token[above - 1])) continue;
    depth[row] = depth[above] + 1;
    says[row] = tree.choice(row);
    if (depth[row] > depth[deepest]) deepest = row;
  }
  Decision decision;
  for (std::int64_t row = deepest; row > 0; row = tree.parent[row - 1] + 1)
    decision.path.insert(decision.path.begin(), static_cast<std::int32_t>(row - 1));
  for (const std::int32_t node : decision.path) decision.emit.push_back(tree.token[node]);
  const bool ended = !decision.emit.empty() && is_end(eos, num_eos, decision.emit.back());
  if (!ended && depth[deepest] < max_emit) decision.emit.push_back(says[deepest]);
  return decision;
}

}  // namespace

std::int64_t dflash_generate(const DflashGenerateArgs* args) {
  return generate<TreePass>(args);
}
