// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <cmath>
#include <doctest/doctest.h>
namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

Problem climbing_problem(Rng& rng) {
  Problem problem({2, 4, 2, 37, 45, 6, 5});
  problem.form.causal = true;
  fill_climbing(problem, rng);
  return problem;
}

Answer right_answer(const Problem& problem) {
  const Expected expected = expect(problem);
  return {{expected.o.begin(), expected.o.end()}, {expected.lse.begin(), expected.lse.end()}};
}

}  // namespace

TEST_CASE("rows that laps are judged by agree with the oracle, and all means all") {
  Rng rng(4);
  const Problem problem = climbing_problem(rng);
  const Answer right = right_answer(problem);
  const JudgedRows all = all_rows(problem);
  const JudgedRows one(problem, {0});
  CHECK_FALSE(all.miss(right));
  for (std::size_t at = 0; at < right.o.size(); ++at) {
    Answer wrong = right;
    wrong.o[at] += 0.01f;
    CHECK(all.miss(wrong));
    CHECK(one.miss(wrong).has_value() == (at < 5));
  }
  for (std::size_t at = 0; at < right.lse.size(); ++at) {
    Answer wrong = right;
    wrong.lse[at] += 0.01f;
    CHECK(all.miss(wrong));
  }
}
