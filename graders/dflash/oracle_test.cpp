// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <doctest/doctest.h>
#include <functional>

#include "fixtures/directed_trees.h"
#include "harness/core/rng.h"

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

Draft random_draft(const Language& language, Rng& rng, bool duplicates = false) {
  TreePlan plan = random_plan(rng.integer(0, 30), rng);
  plan.duplicates = duplicates;
  return random_draft(language, plan, rng);
}

/// The other way to verify: from row to row, taking the child with the deepest continuation.
Walk walk_down(const Language& language, const Draft& draft) {
  const auto choices = says(language, draft);
  const std::function<std::vector<std::int32_t>(std::int32_t)> best = [&](std::int32_t node) {
    std::vector<std::int32_t> longest;
    for (std::int32_t child = 0; child < draft.tree.nodes(); ++child) {
      const auto i = static_cast<std::size_t>(child);
      if (draft.tree.parent[i] != node ||
          draft.tree.token[i] != choices[static_cast<std::size_t>(node + 1)])
        continue;
      auto path = best(child);
      path.insert(path.begin(), child);
      if (path.size() > longest.size()) longest = std::move(path);
    }
    return longest;
  };
  Walk walk;
  std::int32_t tip = -1;
  for (const std::int32_t node : best(-1)) {
    if (std::ssize(walk.emit) == draft.max_emit) return walk;
    walk.emit.push_back(draft.tree.token[static_cast<std::size_t>(node)]);
    walk.path.push_back(tip = node);
    if (language.is_eos(walk.emit.back())) return walk;
  }
  if (std::ssize(walk.emit) < draft.max_emit)
    walk.emit.push_back(choices[static_cast<std::size_t>(tip + 1)]);
  return walk;
}

/// A language that says these tokens after the rows of a tree whose root follows an empty text.
Language scripted(const Tree& tree, std::int32_t root_token,
                  const std::vector<std::int32_t>& says) {
  Rng rng(1);
  Language language(20, rng);
  const auto states = row_states(language, tree, language.read({{root_token}}));
  for (std::size_t row = 0; row < states.size(); ++row) language.say(states[row], says[row]);
  return language;
}

Walk walk_of(const Tree& tree, std::int32_t root_token, const std::vector<std::int32_t>& says) {
  const Language language = scripted(tree, root_token, says);
  Draft draft;
  draft.tree = tree;
  draft.root_token = root_token;
  draft.root = language.read({{root_token}});
  draft.max_emit = tree.rows();
  return greedy(language, draft);
}

}  // namespace

TEST_CASE("decoding first and looking for nodes later gives what walking down gives") {
  Rng rng(11);
  for (int i = 0; i < 400; ++i) {
    Language language(rng.integer(11, 40), rng);
    if (i % 2 == 1) language.end_with({3}, 0.1);
    Draft draft = random_draft(language, rng, i % 3 == 0);
    if (i % 5 == 0) draft.max_emit = rng.integer(0, 4);
    const Walk want = walk_down(language, draft);
    const Walk got = greedy(language, draft);
    CHECK(got.emit == want.emit);
    CHECK(got.path.size() == want.path.size());
    CHECK_FALSE(fault(language, draft, got));
    CHECK_FALSE(fault(language, draft, want));
  }
}

TEST_CASE("the oracle finds what was worked out for every directed tree") {
  Rng rng(5);
  const DirectedTrees directed(rng);
  REQUIRE(directed.drafts.size() == kDirectedTrees.size());
  for (std::size_t i = 0; i < directed.drafts.size(); ++i) {
    INFO(directed.names[i]);
    const Walk got = greedy(directed.language, directed.drafts[i]);
    CHECK(got.path == kDirectedTrees[i].path);
    CHECK(got.emit.size() == kDirectedTrees[i].emit.size());
  }
}

// The two trees of SGLang's own test of verify_tree_greedy, given there by first children and next
// siblings, with the indices it must accept: [0, 3, 4, 5] and [6, 10, 11] of twelve rows.
TEST_CASE("the oracle agrees with SGLang's example of tree verification") {
  const Walk a = walk_of({{-1, 0, -1, 2, 3}, {1, 2, 3, 4, 5}}, 0, {3, 18, 18, 4, 5, 18});
  CHECK(a == Walk{{3, 4, 5, 18}, {2, 3, 4}});
  const Walk b = walk_of({{-1, 0, 1, -1, 3}, {8, 9, 10, 11, 12}}, 7, {11, 18, 18, 18, 12, 18});
  CHECK(b == Walk{{11, 12, 18}, {3, 4}});
}

TEST_CASE("every small change of an answer is a fault") {
  Rng rng(12);
  const Language language(30, rng);
  int changed = 0;
  for (int i = 0; i < 200; ++i) {
    const Draft draft = random_draft(language, rng);
    const Walk right = greedy(language, draft);
    REQUIRE_FALSE(fault(language, draft, right));
    Walk wrong = right;
    wrong.emit.back() = (wrong.emit.back() + 1) % 30;
    CHECK(fault(language, draft, wrong));
    wrong = right;
    wrong.emit.pop_back();
    CHECK(fault(language, draft, wrong));
    wrong = right;
    wrong.emit.push_back(0);
    CHECK(fault(language, draft, wrong));
    if (right.path.empty()) continue;
    ++changed;
    wrong = right;
    wrong.path.pop_back();
    CHECK(fault(language, draft, wrong));
    wrong = right;
    wrong.path.back() = static_cast<std::int32_t>(draft.tree.nodes());
    CHECK(fault(language, draft, wrong));
    wrong = right;
    wrong.path.pop_back();
    wrong.emit.pop_back();
    CHECK(fault(language, draft, wrong));
  }
  CHECK(changed > 50);
}

TEST_CASE("either of two equal siblings may be followed, and only as far as it leads") {
  Rng rng(13);
  const Language language(30, rng);
  Draft draft = draft_after(language, 5, rng);
  const std::int32_t first = language.choice(draft.root);
  draft.tree.add(-1, first);
  draft.tree.add(-1, first);
  const auto states = row_states(language, draft.tree, draft.root);
  const std::int32_t second = language.choice(states[1]);
  draft.tree.add(1, second);
  draft.max_emit = 9;
  const Walk longest = greedy(language, draft);
  CHECK(longest.path == std::vector<std::int32_t>{1, 2});
  CHECK_FALSE(fault(language, draft, {{first, second}, {0}}));
  CHECK(fault(language, draft, {{first, second}, {1}}));
  CHECK(fault(language, draft, {longest.emit, {0, 2}}));
}

TEST_CASE("a row sees its ancestors, and stands as deep as it has ancestors") {
  const Tree tree{{-1, -1, 0, 1, 3}, {1, 2, 3, 4, 5}};
  const auto sees = visible(tree);
  CHECK(sees[0] == std::vector<bool>{true, false, false, false, false, false});
  CHECK(sees[3] == std::vector<bool>{true, true, false, true, false, false});
  CHECK(sees[5] == std::vector<bool>{true, false, true, false, true, true});
  CHECK(depths(tree) == std::vector<std::int64_t>{0, 1, 1, 2, 2, 3});
}

TEST_CASE("the lowest of the largest logits is the choice") {
  Rng rng(14);
  int ties = 0;
  int near = 0;
  for (int i = 0; i < 500; ++i) {
    const Language language(rng.integer(2, 60), rng);
    const State text = language.read({{i}});
    std::vector<float> row(static_cast<std::size_t>(language.vocab()));
    language.logits(text, row);
    const auto best = std::max_element(row.begin(), row.end());
    CHECK(best - row.begin() == language.choice(text));
    ties += std::count(row.begin(), row.end(), *best) > 1;
    near += std::count_if(row.begin(), row.end(),
                          [&](float x) { return x < *best && *best - x < 1e-4f; }) > 0;
  }
  CHECK(ties > 20);
  CHECK(near > 50);
}
