// SPDX-License-Identifier: Apache-2.0
#include "batches.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// The draft with another tree, all of whose tokens are wanted.
Draft with_tree(Draft draft, Tree tree) {
  draft.tree = std::move(tree);
  draft.max_emit = draft.tree.rows();
  return draft;
}

Tree four_chains(const Language& language, State root, std::int64_t length, int right, Rng& rng) {
  Tree tree;
  for (int chain = 0; chain < 4; ++chain) {
    std::int32_t above = -1;
    State text = root;
    for (std::int64_t i = 0; i < length; ++i) {
      const bool astray = i == 0 && chain != right;
      above = tree.add(above, astray ? wrong_token(language, text, rng) : language.choice(text));
      text = language.extend(text, tree.token.back());
    }
  }
  return tree.cropped(4 * length - rng.integer(0, length / 2));
}

}  // namespace

Batch whole_chain(const Language& language, std::int64_t rows, Rng& rng) {
  return {&language, {random_draft(language, chain_plan(rows - 1, 0), rng)}};
}

Batch chains_in_a_row(const Language& language, Rng& rng) {
  Batch batch{&language};
  for (const std::int64_t length : {8, 16, 32, 64, 128, 256})
    for (int right = 0; right < 4; ++right) {
      const Draft draft = draft_after(language, rng.integer(1, 9), rng);
      batch.drafts.push_back(
          with_tree(draft, four_chains(language, draft.root, length, right, rng)));
    }
  return batch;
}

Batch between_right_neighbours(const Language& language, Rng& rng) {
  Batch batch{&language};
  for (const std::int64_t about : {5, 70, 300, 1100, 4200})
    for (const std::int64_t depth : {0, 1, 3}) {
      const Draft draft = draft_after(language, rng.integer(1, 9), rng);
      const Tree path = late_path(language, draft.root, 0, depth + 1);
      Tree between = path.cropped(depth);
      // An odd number, which no wider step divides.
      for (std::int64_t left = 2 * rng.integer(about / 2, about / 2 + 9) + 1; left > 0; --left)
        between.add(-1, -1);
      Tree before = path.cropped(depth);
      for (std::int64_t left = rng.integer(0, 9); left > 0; --left) before.add(-1, -1);
      before.add(path.parent.back(), path.token.back());
      for (const Tree& tree : {before, between, path})
        batch.drafts.push_back(with_tree(draft, tree));
    }
  return batch;
}

Batch one_right_node(const Language& language, Rng& rng) {
  const Draft none = with_tree(draft_after(language, 3, rng), {});
  const auto trees = static_cast<std::size_t>(rng.integer(65'538, 65'600));
  Batch batch{&language, std::vector<Draft>(trees, none)};
  batch.drafts.front() = with_tree(none, late_path(language, none.root, 0, 1));
  return batch;
}

Batch large_trees(const Language& language, Rng& rng) {
  const Draft none = draft_after(language, 5, rng);
  Batch batch{&language, {none}, plain_logits(language)};
  for (int t = 0; t < 4; ++t) {
    const Draft draft = draft_after(language, 3, rng);
    const std::int64_t nodes = rng.integer(1030, 1100);
    batch.drafts.push_back(with_tree(
        draft, large_random_tree(language, draft.root, nodes, rng.integer(850, 950), rng)));
  }
  batch.drafts.push_back(none);
  return batch;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
