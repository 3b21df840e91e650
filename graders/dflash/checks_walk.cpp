// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "batches.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// 8 batches of 30 random trees. Every batch is followed by one of the same sizes with other trees,
// so that an answer kept from the first is wrong. Then one tree of as many nodes as there may be.
void branching_trees(Probe& probe) {
  for (int pair = 0; pair < 4; ++pair) {
    Rng sizes = probe.begin_case(fmt::format("sizes_{}", pair));
    const std::int64_t vocab = sizes.integer(11, 90);
    std::vector<std::int64_t> nodes;
    for (int t = 0; t < 30; ++t)
      nodes.push_back(t < 28 ? sizes.integer(2, t < 20 ? 12 : 48) : sizes.integer(260, 400));
    for (const char* turn : {"a", "b"}) {
      Rng rng = probe.begin_case(fmt::format("random_trees_{}{}", pair, turn));
      Language language(vocab, rng);
      if (pair % 2 == 1)  // a node can be right, a tree worth following, and the text over
        language.end_with({nonzero_token(language, rng)}, 0.08);
      Batch batch{&language};
      for (const std::int64_t count : nodes) {
        batch.drafts.push_back(random_draft(language, random_plan(count, rng), rng));
        Draft& draft = batch.drafts.back();
        if (rng.chance(0.15)) draft.max_emit = rng.integer(0, 3);
        if (rng.chance(0.1)) draft.max_emit = rng.integer(1, 9) << 32;  // nothing in 32 bits
        // An end of sequence beside the right first node, rejected.
        if (!language.eos().empty() && language.choice(draft.root) != language.eos()[0] &&
            !draft.tree.has_child(-1, language.eos()[0]))
          draft.tree.add(-1, language.eos()[0]);
      }
      require_right(probe, batch);
    }
  }

  Rng rng = probe.begin_case("alike_trees");
  const Language words(rng.integer(100, 140), rng);
  require_right(probe, alike_trees(words, rng));

  rng = probe.begin_case("chains_in_a_row");
  const Language language(rng.integer(11, 30), rng);
  require_right(probe, chains_in_a_row(language, rng));

  rng = probe.begin_case("most_nodes");
  Draft draft = draft_after(language, rng.integer(1, 40), rng);
  draft.tree = large_random_tree(language, draft.root, 65'534, 12, rng);
  draft.max_emit = draft.tree.rows();
  const Walk walk = greedy(language, draft);  // goes on to the last node there may be
  draft.tree.add(walk.path.back(), walk.emit.back());
  require_right(probe, Batch{&language, {std::move(draft)}});
}

void parent_rows(Probe& probe) {
  for (int turn = 0; turn < 6; ++turn) {
    Rng rng = probe.begin_case(fmt::format("directed_{}", turn));
    const DirectedTrees directed(rng);
    Batch batch{&directed.language, directed.drafts};
    rng.shuffle(batch.drafts);
    require_right(probe, batch);
  }
}

void rejected_subtrees(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    Rng rng = probe.begin_case(fmt::format("rejected_{}", turn));
    const Language language(rng.integer(11, 60), rng);
    Batch batch{&language};
    for (int t = 0; t < 24; ++t) {
      Draft draft = draft_after(language, rng.integer(1, 30), rng);
      draft.tree = rejected_chains(language, draft.root, t % 5, 1 + t % 4, rng);
      // As grown, the rejected chain of a row precedes its right child; the other orders mix them.
      if (t % 2 == 1)
        draft.tree = reordered(draft.tree, static_cast<Order>(rng.integer(0, 2)), rng);
      draft.max_emit = draft.tree.rows();
      batch.drafts.push_back(std::move(draft));
    }
    require_right(probe, batch);
  }
  Rng rng = probe.begin_case("past_strangers");
  const Language language(rng.integer(11, 60), rng);
  require_right(probe, past_strangers(language, rng));
  rng = probe.begin_case("alike_trees");
  const Language words(rng.integer(100, 140), rng);
  require_right(probe, alike_trees(words, rng));
  rng = probe.begin_case("right_neighbours");
  require_right(probe, between_right_neighbours(language, rng));
}

// One tree in many orders, and once without its wrong branches: the emitted tokens stay the same.
void node_order(Probe& probe) {
  for (int turn = 0; turn < 4; ++turn) {
    Rng rng = probe.begin_case(fmt::format("orders_{}", turn));
    const Language language(rng.integer(11, 60), rng);
    TreePlan plan = random_plan(rng.integer(6, 20), rng);
    plan.shape = Shape::bush;
    plan.correct = rng.integer(2, 5);
    const Draft draft = random_draft(language, plan, rng);
    Batch batch{&language, {draft}};
    for (int copy = 0; copy < 20; ++copy) {
      batch.drafts.push_back(draft);
      batch.drafts.back().tree = reordered(draft.tree, static_cast<Order>(copy % 3), rng);
    }
    batch.drafts.push_back(draft);
    batch.drafts.back().tree = grow(language, draft.root, chain_plan(plan.correct, 0), rng);
    require_right(probe, batch);
  }
  Rng rng = probe.begin_case("chains_in_a_row");
  const Language language(rng.integer(11, 30), rng);
  require_right(probe, chains_in_a_row(language, rng));
}

// Any of two equal siblings may be followed. Half of the points ask for the longest path.
void duplicate_siblings(Probe& probe) {
  std::int64_t missed = 0;
  for (int turn = 0; turn < 4; ++turn) {
    Rng rng = probe.begin_case(fmt::format("duplicates_{}", turn));
    const Language language(rng.integer(11, 40), rng);
    Batch batch{&language};
    for (int t = 0; t < 16; ++t) {
      TreePlan plan = random_plan(rng.integer(4, 30), rng);
      plan.correct = rng.integer(1, 4);
      plan.duplicates = true;
      Draft draft = random_draft(language, plan, rng);
      // A right first node without children, beside the right one that leads on.
      draft.tree.add(-1, language.choice(draft.root));
      draft.tree = reordered(draft.tree, Order::random, rng);
      draft.max_emit = draft.tree.rows();
      batch.drafts.push_back(std::move(draft));
    }
    missed += require_right(probe, batch);
  }
  // More of them than the rows of a pass leave room for where each has a path of its own.
  Rng rng = probe.begin_case("equal_leaves");
  const Language language(rng.integer(11, 40), rng);
  require_right(probe, with_equal_leaves(language, rng));
  probe.fact("accepted nodes missed among equal siblings", static_cast<double>(missed), "");
  if (missed > 0) probe.earn(0.5);
}

}  // namespace

std::vector<Check> walk_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"parent_rows", "logits taken by list index or by depth instead of by parent", correctness,
        3, critical},
       parent_rows},
      {{"branching_trees", "verification that only holds for chains", correctness, 3, critical},
       branching_trees},
      {{"rejected_subtrees", "nodes accepted below a rejected one, or without being verified",
        correctness, 3, critical},
       rejected_subtrees},
      {{"node_order", "trees taken to be listed breadth first, or siblings in order", correctness,
        1, critical},
       node_order},
      {{"duplicate_siblings", "siblings that carry the same token", correctness, 1, minor},
       duplicate_siblings},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
