// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>
#include <set>

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

/// A lap's walk, against the logits and the tree.
void check_walk(const LapTrees& laps, const LapTrees::Sizes& sizes, std::int64_t t) {
  const Walk& want = laps.walks()[std::size_t(t)];
  CHECK(want.emit.size() == want.path.size() + 1);
  std::int32_t tip = -1;
  for (std::size_t k = 0; k < want.emit.size(); ++k) {
    const float* row = laps.logits().data() + (t * (sizes.nodes + 1) + tip + 1) * sizes.vocab;
    CHECK(std::max_element(row, row + sizes.vocab) - row == want.emit[k]);
    const auto node = laps.node_start()[std::size_t(t)];
    int followers = 0;
    for (std::int64_t i = 0; i < sizes.nodes; ++i)
      followers += laps.parent()[std::size_t(node + i)] == tip &&
                   laps.token()[std::size_t(node + i)] == want.emit[k];
    CHECK(followers == (k < want.path.size() ? 1 : 0));
    if (k < want.path.size()) tip = want.path[k];
  }
}

}  // namespace

TEST_CASE("laps have the answers that their logits say") {
  Rng rng(26);
  const LapTrees::Sizes sizes{3, 20, 5, 700};
  LapTrees laps(sizes);
  for (int turn = 0; turn < 3; ++turn) {
    laps.renew(rng);
    for (std::int64_t t = 0; t < sizes.trees; ++t) {
      CHECK(laps.walks()[std::size_t(t)].path.size() == 5);
      check_walk(laps, sizes, t);
    }
  }
}

TEST_CASE("chains of laps end anywhere, at once and at their end among it, in equal work") {
  Rng rng(27);
  const LapTrees::Sizes sizes{4, 10, 5, 700, true};
  LapTrees laps(sizes);
  std::set<std::size_t> ends;
  for (int turn = 0; turn < 60; ++turn) {
    laps.renew(rng);
    std::multiset<std::size_t> lengths;
    for (std::int64_t t = 0; t < sizes.trees; ++t) {
      check_walk(laps, sizes, t);
      lengths.insert(laps.walks()[std::size_t(t)].path.size());
    }
    CHECK(lengths.count(0) >= 1);
    CHECK(lengths.count(10) >= 1);
    CHECK(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}) == 20);
    ends.insert(lengths.begin(), lengths.end());
  }
  CHECK(ends.size() == 11);
}
