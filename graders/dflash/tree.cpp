// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

#include <algorithm>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

std::int32_t Tree::add(std::int32_t parent_node, std::int32_t node_token) {
  parent.push_back(parent_node);
  token.push_back(node_token);
  return static_cast<std::int32_t>(nodes()) - 1;
}

bool Tree::has_child(std::int32_t parent_node, std::int32_t node_token) const {
  for (std::size_t i = 0; i < parent.size(); ++i)
    if (parent[i] == parent_node && token[i] == node_token) return true;
  return false;
}

Tree Tree::cropped(std::int64_t count) const {
  const auto kept = std::min(count, nodes());
  return {{parent.begin(), parent.begin() + kept}, {token.begin(), token.begin() + kept}};
}

std::vector<std::int32_t> path_to(const Tree& tree, std::int32_t node) {
  std::vector<std::int32_t> path;
  for (; node >= 0; node = tree.parent[static_cast<std::size_t>(node)]) path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<State> row_states(const Language& language, const Tree& tree, State root) {
  std::vector<State> states{root};
  for (std::size_t i = 0; i < tree.parent.size(); ++i)
    states.push_back(
        language.extend(states[static_cast<std::size_t>(tree.parent[i] + 1)], tree.token[i]));
  return states;
}

namespace {

/// Grows one tree node by node; every row remembers its text and whether greedy decoding reaches
/// it.
class TreeGrower {
 public:
  TreeGrower(const Language& language, State root, const TreePlan& plan, Rng& rng)
      : language_(language), plan_(plan), rng_(rng), states_{root}, right_{true} {
    const bool but_one = plan.shape == Shape::chain_but_one || plan.shape == Shape::star_but_one;
    const std::int64_t least = std::max<std::int64_t>(plan.correct, 1);
    if (but_one && least < plan.nodes) odd_one_ = rng.integer(least, plan.nodes - 1);
  }

  Tree grow() {
    for (std::int64_t i = 0; i < plan_.correct; ++i) {
      const std::int32_t tip = i == 0 ? -1 : static_cast<std::int32_t>(i) - 1;
      add(tip, language_.choice(states_.back()), true);
    }
    while (tree_.nodes() < plan_.nodes) {
      const std::int32_t above = pick_parent();
      add(above, pick_token(above), false);
    }
    return std::move(tree_);
  }

 private:
  std::size_t row(std::int32_t node) const { return static_cast<std::size_t>(node + 1); }

  void add(std::int32_t above, std::int32_t token, bool right) {
    tree_.add(above, token);
    states_.push_back(language_.extend(states_[row(above)], token));
    right_.push_back(right);
  }

  std::int32_t pick_parent() {
    const auto newest = static_cast<std::int32_t>(tree_.nodes()) - 1;
    switch (plan_.shape) {
      case Shape::chain:
        return newest;
      case Shape::fork:
        return tree_.nodes() + 1 < plan_.nodes || newest < 0
                   ? newest
                   : tree_.parent[static_cast<std::size_t>(newest)];
      case Shape::chain_but_one:
        return tree_.nodes() == odd_one_ ? any_node(newest - 1) : newest;
      case Shape::star:
        return -1;
      case Shape::star_but_one:
        return tree_.nodes() == odd_one_ ? newest : -1;
      case Shape::comb:
        return any_node(plan_.correct - 1);
      case Shape::bush:
        break;
    }
    // Half of the time deeper into what was added last: rejected nodes get subtrees of their own.
    return rng_.chance(0.5) ? newest : any_node(newest);
  }

  /// One of those up to `last`, or the root.
  std::int32_t any_node(std::int64_t last) {
    return static_cast<std::int32_t>(rng_.integer(-1, last));
  }

  std::int32_t tempting_token(std::int32_t above) {
    const auto any_row = static_cast<std::size_t>(rng_.integer(0, std::ssize(states_) - 1));
    const double draw = rng_.uniform();
    if (draw < 0.45) return language_.choice(states_[row(above)]);
    if (draw < 0.75) return language_.choice(states_[any_row]);
    if (draw < 0.85) return 0;
    return kit::one_of(rng_, language_.alphabet());
  }

  /// Only the planned correct path may be correct, unless duplicates are wanted.
  bool allowed(std::int32_t above, std::int32_t token) const {
    if (right_[row(above)] && token == language_.choice(states_[row(above)]))
      return plan_.duplicates && tree_.has_child(above, token);
    return plan_.duplicates || !tree_.has_child(above, token);
  }

  std::int32_t pick_token(std::int32_t above) {
    for (int attempt = 0; attempt < 12; ++attempt)
      if (const std::int32_t token = tempting_token(above); allowed(above, token)) return token;
    for (std::int64_t token = rng_.integer(0, language_.vocab() - 1);; ++token) {
      const auto wrapped = static_cast<std::int32_t>(token % language_.vocab());
      // A node with more children than the vocabulary has tokens gets tokens outside of it.
      if (token >= 2 * language_.vocab())
        return static_cast<std::int32_t>(language_.vocab() + rng_.integer(0, 1 << 20));
      if (allowed(above, wrapped)) return wrapped;
    }
  }

  const Language& language_;
  const TreePlan& plan_;
  Rng& rng_;
  Tree tree_;
  std::vector<State> states_;
  std::vector<bool> right_;
  std::int64_t odd_one_ = -1;  // the node that is not as the shape's others
};

}  // namespace

Tree grow(const Language& language, State root, const TreePlan& plan, Rng& rng) {
  return reordered(TreeGrower(language, root, plan, rng).grow(), plan.order, rng);
}

TreePlan random_plan(std::int64_t nodes, Rng& rng) {
  TreePlan plan;
  plan.nodes = nodes;
  const double draw = rng.uniform();
  plan.shape = draw < 0.7 ? Shape::bush : draw < 0.85 ? Shape::comb : Shape::star;
  plan.order = static_cast<Order>(rng.integer(0, 2));
  const std::int64_t longest = plan.shape == Shape::star ? 1 : std::min<std::int64_t>(nodes, 8);
  plan.correct = rng.integer(0, std::min(longest, nodes));
  return plan;
}

Tree reordered(const Tree& tree, Order order, Rng& rng, std::vector<std::int32_t>* moved) {
  const auto count = static_cast<std::size_t>(tree.nodes());
  std::vector<std::vector<std::int32_t>> children(count + 1);
  for (std::size_t i = 0; i < count; ++i)
    children[static_cast<std::size_t>(tree.parent[i] + 1)].push_back(static_cast<std::int32_t>(i));
  for (auto& siblings : children) rng.shuffle(siblings);

  Tree result;
  std::vector<std::int32_t> number(count, -1);
  std::vector<std::int32_t> ready = children[0];
  while (!ready.empty()) {
    std::int64_t at = 0;
    if (order == Order::depth_first) at = std::ssize(ready) - 1;
    if (order == Order::random) at = rng.integer(0, std::ssize(ready) - 1);
    const auto node = static_cast<std::size_t>(ready[static_cast<std::size_t>(at)]);
    ready.erase(ready.begin() + at);
    const std::int32_t above = tree.parent[node];
    number[node] =
        result.add(above < 0 ? -1 : number[static_cast<std::size_t>(above)], tree.token[node]);
    ready.insert(ready.end(), children[node + 1].begin(), children[node + 1].end());
  }
  if (moved != nullptr) *moved = std::move(number);
  return result;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
