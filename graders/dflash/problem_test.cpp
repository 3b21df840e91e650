// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "harness/core/rng.h"
#include "oracle.h"

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

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

TEST_CASE("behind a stranger stand nodes for whoever overlooks it") {
  Rng rng(8);
  const Language language(30, rng);
  const Batch batch = past_strangers(language, rng);
  std::size_t longest = 0;
  for (const Draft& draft : batch.drafts) {
    const auto& [parent, token] = draft.tree;
    const auto foreign = std::ranges::find_if(
        token, [&](std::int32_t word) { return word < 0 || word >= language.vocab(); });
    REQUIRE(foreign != token.end());
    const auto node = static_cast<std::int32_t>(foreign - token.begin());
    const auto states = row_states(language, draft.tree, draft.root);
    CHECK(draft.tree.has_child(node, language.choice(states[std::size_t(node)])));
    CHECK(draft.tree.has_child(node, language.choice(states[std::size_t(node) + 1])));
    const Walk walk = greedy(language, draft);
    CHECK(std::ranges::find(walk.path, node) == walk.path.end());
    longest = std::max(longest, walk.path.size());
  }
  CHECK(longest == 1);
}

TEST_CASE("requests of large sizes end where their checks want them to") {
  Rng rng(9);
  Language language(30, rng);
  const Problem leaves = with_equal_leaves(language, rng);
  CHECK(expect(leaves, 0).rounds == 1);
  CHECK(expect(leaves, 0).accepted == std::ssize(expect(leaves, 0).emit) - 1);
  const Problem ample = ample_limits(language, rng);
  for (std::size_t r = 0; r < ample.prompts.size(); ++r) {
    CHECK(expect(ample, r).emit.size() == 7);
    CHECK(expect(ample, r).rounds == 2);
  }
}
