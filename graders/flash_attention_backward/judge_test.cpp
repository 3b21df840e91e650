// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <doctest/doctest.h>

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

/// One query and one key, with these numbers.
Problem one_key(float first, float second) {
  Problem problem(Sizes{.dim = 2, .value_dim = 3});
  problem.q.data = {0.7f, -1.3f};
  problem.k.data = {first, second};
  problem.v.data = {0.3f, 1.1f, -0.9f};
  problem.dout.data = {1.7f, -0.6f, 0.4f};
  attend(problem);
  return problem;
}

}  // namespace

// The seed at which a right solution was refused had such a row.
TEST_CASE("a key that moved to 0 allows what it allowed before") {
  const Expected before = expect(one_key(0.5f, 1.25f));
  const Expected moved = expect(one_key(0.0f, 1.75f));
  REQUIRE(moved.bound.dq[0] == 0);
  const Expected both = with_bounds_of(before, moved);
  CHECK(both.value.dq == before.value.dq);
  CHECK(both.bound.dq[0] == before.bound.dq[0]);
  CHECK(both.bound.dq[0] > 0);
  CHECK(both.bound.dq[1] == moved.bound.dq[1]);
  CHECK(both.bound.dq[1] > before.bound.dq[1]);
}
