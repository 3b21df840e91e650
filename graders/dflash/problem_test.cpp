#include "problem.h"

#include <doctest/doctest.h>

#include "fixtures/directed_trees.h"
#include "harness/core/rng.h"
#include "oracle.h"

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

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

/// Row i judges node i, as a chain would have it.
std::vector<std::int32_t> read_by_index(const Tree& tree, const std::vector<std::int32_t>& says) {
  std::vector<std::int32_t> emit;
  std::int32_t current = -1;
  for (std::int32_t i = 0; i < tree.nodes(); ++i)
    if (tree.parent[std::size_t(i)] == current &&
        tree.token[std::size_t(i)] == says[std::size_t(i)])
      emit.push_back(tree.token[std::size_t(current = i)]);
  emit.push_back(says[static_cast<std::size_t>(current + 1)]);
  return emit;
}

}  // namespace

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

TEST_CASE("directed trees tell list indices from parents, and chains cannot") {
  Rng rng(6);
  const DirectedTrees directed(rng);
  int told = 0;
  for (const Draft& draft : directed.drafts)
    told += read_by_index(draft.tree, says(directed.language, draft)) !=
            greedy(directed.language, draft).emit;
  CHECK(told >= 2);

  const Language language(30, rng);
  for (int i = 0; i < 50; ++i) {
    const std::int64_t correct = rng.integer(0, 8);
    Draft draft;
    draft.root = language.read({{1, i}});
    draft.tree = grow(language, draft.root, chain_plan(correct, 8 - correct), rng);
    draft.max_emit = 9;
    CHECK(read_by_index(draft.tree, says(language, draft)) == greedy(language, draft).emit);
  }
}

TEST_CASE("renaming keeps token 0 and nothing else predictable") {
  Rng rng(7);
  const DirectedTrees one(rng);
  const DirectedTrees two(rng);
  CHECK(one.drafts[0].tree.token != two.drafts[0].tree.token);
  for (const DirectedTrees* trees : {&one, &two}) {
    const auto& padded = trees->drafts.back();  // its bonus is token 0
    CHECK(greedy(trees->language, padded).emit.back() == 0);
  }
}
