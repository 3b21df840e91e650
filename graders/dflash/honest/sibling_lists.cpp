// strategy: first-child and next-sibling lists; masks by climbing to the root
// uses: where siblings carry the same token either may be followed, here the first, also where
// another leads further down
// SPDX-License-Identifier: Apache-2.0
#include "rounds.h"

namespace {

void build_tree(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                std::int64_t context_length, std::uint64_t* mask, std::int64_t* position) {
  std::fill_n(mask, (nodes + 1) * words, 0);
  for (std::int64_t row = 0; row <= nodes; ++row) {
    std::int64_t depth = 0;
    std::int64_t slot = row;
    for (; slot > 0; slot = parent[slot - 1] + 1, ++depth)
      mask[row * words + slot / 64] |= std::uint64_t{1} << (slot % 64);
    mask[row * words] |= 1;
    position[row] = context_length + depth;
  }
}

/// First children and next siblings, as inference servers keep their trees.
struct Links {
  explicit Links(const Tree& tree) : child(tree.nodes + 1, -1), sibling(tree.nodes, -1) {
    List<std::int32_t> last(tree.nodes + 1, -1);
    for (std::int32_t i = 0; i < tree.nodes; ++i) {
      const std::int32_t above = tree.parent[i] + 1;
      (last[above] < 0 ? child[above] : sibling[last[above]]) = i;
      last[above] = i;
    }
  }
  List<std::int32_t> child;
  List<std::int32_t> sibling;
};

Decision decide(const Tree& tree, const std::int32_t* eos, std::int64_t num_eos,
                std::int64_t max_emit) {
  const Links links(tree);
  Decision decision;
  std::int32_t row = 0;
  for (std::int64_t left = max_emit; left > 0; --left) {
    const std::int32_t wanted = tree.choice(row);
    decision.emit.push_back(wanted);
    std::int32_t node = links.child[row];
    while (node >= 0 && tree.token[node] != wanted) node = links.sibling[node];
    if (node < 0) break;
    decision.path.push_back(node);
    if (is_end(eos, num_eos, wanted)) break;
    row = node + 1;
  }
  return decision;
}

}  // namespace

std::int64_t dflash_generate(const DflashGenerateArgs* args) {
  return generate<TreePass>(args);
}
