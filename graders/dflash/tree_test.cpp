// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "evidence.h"

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

bool is_tree(const Tree& tree) {
  for (std::int32_t i = 0; i < tree.nodes(); ++i)
    if (tree.parent[std::size_t(i)] < -1 || tree.parent[std::size_t(i)] >= i) return false;
  return tree.parent.size() == tree.token.size();
}

bool has_twins(const Tree& tree) {
  for (std::size_t i = 0; i < tree.parent.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (tree.parent[i] == tree.parent[j] && tree.token[i] == tree.token[j]) return true;
  return false;
}

}  // namespace

TEST_CASE("trees grow as planned: size, correct path, different siblings") {
  Rng rng(21);
  for (int i = 0; i < 300; ++i) {
    const Language language(rng.integer(40, 80), rng);
    const TreePlan plan = random_plan(rng.integer(0, 30), rng);
    const Draft draft = random_draft(language, plan, rng);
    CHECK(is_tree(draft.tree));
    CHECK(draft.tree.nodes() == plan.nodes);
    CHECK(std::ssize(greedy(language, draft).path) == plan.correct);
    CHECK_FALSE(has_twins(draft.tree));
  }
}

TEST_CASE("most rejected nodes are right by their own parents") {
  Rng rng(22);
  const Language language(50, rng);
  int tempting = 0;
  for (int i = 0; i < 60; ++i) {
    const Draft draft = random_draft(language, random_plan(20, rng), rng);
    const auto choices = says(language, draft);
    for (std::size_t n = 0; n < draft.tree.token.size(); ++n)
      tempting += draft.tree.token[n] == choices[std::size_t(draft.tree.parent[n] + 1)];
  }
  CHECK(tempting > 60 * 20 / 5);
}

TEST_CASE("another order is the same tree") {
  Rng rng(23);
  const Language language(50, rng);
  for (const Order order : {Order::breadth_first, Order::depth_first, Order::random}) {
    const Draft draft = random_draft(language, random_plan(25, rng), rng);
    std::vector<std::int32_t> moved;
    const Tree other = reordered(draft.tree, order, rng, &moved);
    CHECK(is_tree(other));
    auto states = row_states(language, draft.tree, draft.root);
    const auto other_states = row_states(language, other, draft.root);
    for (std::size_t i = 0; i < moved.size(); ++i)
      CHECK(states[i + 1] == other_states[std::size_t(moved[i]) + 1]);
    if (order == Order::breadth_first) {
      const auto depth = depths(other);
      CHECK(std::is_sorted(depth.begin(), depth.end()));
    }
  }
}

TEST_CASE("a drawing shows branches, tokens and both paths") {
  Rng rng(24);
  Language language(20, rng);
  Draft draft;
  draft.tree = {{-1, -1, 1}, {2, 3, 9}};
  draft.root_token = 5;
  draft.root = language.read({{5}});
  draft.max_emit = 4;
  const auto states = row_states(language, draft.tree, draft.root);
  const std::int32_t next[] = {2, 3, 9, 7};
  for (std::size_t row = 0; row < 4; ++row) language.say(states[row], next[row]);
  const auto lines = draw_walks(language, draft, {{2, 3, 9, 7}, {0, 1, 2}});
  REQUIRE(lines.size() == 9);
  CHECK(lines[0] == "tree          token  target says  expected  got");
  CHECK(lines[1] == "root              5            2      ●      ●");
  CHECK(lines[2] == "├─ node 0         2            3      ●      ●");
  CHECK(lines[3] == "└─ node 1         3            9             ✗");
  CHECK(lines[4] == "   └─ node 2      9            7             ✗");
  CHECK(lines[6] == "expected  emits 2, 3; path node 0");
  CHECK(lines[7] == "got       emits 2, 3, 9, 7; path node 0 > 1 > 2");
  CHECK(lines[8] == "token 3: nothing may follow the 2 expected");
}

TEST_CASE("big trees are drawn in part, and nonsense does not break a drawing") {
  Rng rng(25);
  const Language language(300, rng);
  const Draft draft = random_draft(language, random_plan(200, rng), rng);
  const auto lines = draw_walks(language, draft, {{1, 2, 3}, {-7, 199, 1 << 30}});
  CHECK(lines.size() < 80);
}
