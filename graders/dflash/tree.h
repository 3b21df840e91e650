// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "language.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A draft tree as the contract numbers it. Rows count from the root: row 0 is the root, row i+1 is
/// node i, and -1 stands for the root among parents.
struct Tree {
  std::vector<std::int32_t> parent;
  std::vector<std::int32_t> token;

  std::int64_t nodes() const { return std::ssize(parent); }
  std::int64_t rows() const { return nodes() + 1; }
  std::int32_t add(std::int32_t parent_node, std::int32_t node_token);
  bool has_child(std::int32_t parent_node, std::int32_t node_token) const;

  /// Its first `count` nodes, which are a tree too.
  Tree cropped(std::int64_t count) const;
};

/// Nodes on the way from the top to `node`, itself last; none for -1.
std::vector<std::int32_t> path_to(const Tree& tree, std::int32_t node);

/// The text that each row has read, the root's first.
std::vector<State> row_states(const Language& language, const Tree& tree, State root);

/// fork: a chain, but for the last node. Trees that are something but for one node, any of them,
/// agree with others of their kind before it, behind it and at most places where one may look.
enum class Shape { chain, chain_but_one, fork, star, star_but_one, comb, bush };
enum class Order { breadth_first, depth_first, random };

struct TreePlan {
  std::int64_t nodes = 0;
  Shape shape = Shape::bush;
  Order order = Order::random;
  std::int64_t correct = 0;  // nodes that greedy decoding will follow; at most `nodes`
  bool duplicates = false;   // siblings may carry the same token
};

/// A tree over a text: a correct path, and wrong branches that tempt. Below a rejected node most
/// tokens are what the target really says there; others are right for another row of the tree,
/// right at the same depth elsewhere, or 0. Unless duplicates are wanted, siblings differ.
Tree grow(const Language& language, State root, const TreePlan& plan, Rng& rng);

/// A random plan for about `nodes` nodes.
TreePlan random_plan(std::int64_t nodes, Rng& rng);

/// The same tree with its nodes in another order that keeps parents before children, siblings
/// shuffled. `moved`, when given, receives the new number of every old node.
Tree reordered(const Tree& tree, Order order, Rng& rng, std::vector<std::int32_t>* moved = nullptr);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
