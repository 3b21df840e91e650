// strategy: all leaf paths against the choices of all rows, longest cumulative match
// uses: where siblings carry the same token either may be followed, here the one that leads
// furthest down
// SPDX-License-Identifier: Apache-2.0
#include "rounds.h"

namespace {

/// Nodes from the top to `node`.
List<std::int32_t> way_to(const std::int32_t* parent, std::int32_t node) {
  List<std::int32_t> way;
  for (; node >= 0; node = parent[node]) way.push_back(node);
  std::reverse(way.begin(), way.end());
  return way;
}

void build_tree(const std::int32_t* parent, std::int64_t nodes, std::int64_t words,
                std::int64_t context_length, std::uint64_t* mask, std::int64_t* position) {
  for (std::int64_t row = 0; row <= nodes; ++row) {
    List<std::uint64_t> sees(words, 0);
    sees[0] = 1;
    const List<std::int32_t> way = way_to(parent, static_cast<std::int32_t>(row - 1));
    for (const std::int32_t node : way)
      sees[(node + 1) / 64] |= std::uint64_t{1} << ((node + 1) % 64);
    std::copy(sees.begin(), sees.end(), mask + row * words);
    position[row] = context_length + static_cast<std::int64_t>(way.size());
  }
}

/// Every way from the root to a leaf is a row of a matrix; how many of its leading tokens match
/// what the target says one row earlier is a cumulative product; the longest match wins.
Decision decide(const Tree& tree, const std::int32_t* eos, std::int64_t num_eos,
                std::int64_t max_emit) {
  List<std::int32_t> says;
  for (std::int64_t row = 0; row <= tree.nodes; ++row) says.push_back(tree.choice(row));
  List<bool> leaf(tree.nodes, true);
  for (std::int64_t i = 0; i < tree.nodes; ++i)
    if (tree.parent[i] >= 0) leaf[tree.parent[i]] = false;

  List<std::int32_t> best;
  for (std::int32_t i = 0; i < tree.nodes; ++i) {
    if (!leaf[i]) continue;
    List<std::int32_t> way = way_to(tree.parent, i);
    std::size_t length = 0;
    int product = 1;
    for (const std::int32_t node : way) {
      product *= tree.token[node] == says[tree.parent[node] + 1];
      length += product;
    }
    way.resize(length);
    if (way.size() > best.size()) best = std::move(way);
  }

  Decision decision;
  for (const std::int32_t node : best) decision.emit.push_back(tree.token[node]);
  decision.emit.push_back(says[best.empty() ? 0 : best.back() + 1]);
  const auto end = std::find_if(decision.emit.begin(), decision.emit.end(),
                                [&](std::int32_t token) { return is_end(eos, num_eos, token); });
  if (end != decision.emit.end()) decision.emit.erase(end + 1, decision.emit.end());
  if (static_cast<std::int64_t>(decision.emit.size()) > max_emit) decision.emit.resize(max_emit);
  best.resize(std::min(best.size(), decision.emit.size()));
  decision.path = std::move(best);
  return decision;
}

}  // namespace

std::int64_t dflash_generate(const DflashGenerateArgs* args) {
  return generate<TreePass>(args);
}
