// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <cmath>
#include <doctest/doctest.h>

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

Problem quick_problem(Rng& rng) {
  Problem problem({2, 4, 2, 37, 45, 6, 5});
  problem.form.causal = true;
  fill_quickly(problem, rng);
  return problem;
}

std::vector<float> rounded(const std::vector<double>& numbers) {
  return {numbers.begin(), numbers.end()};
}

Answer right_answer(const Problem& problem) {
  const Expected expected = expect(problem);
  return {rounded(expected.value.dq), rounded(expected.value.dk), rounded(expected.value.dv),
          rounded(expected.value.delta)};
}

}  // namespace

TEST_CASE("all rows that laps are judged by agree with the oracle") {
  Rng rng(4);
  const Problem problem = quick_problem(rng);
  CHECK_FALSE(all_rows(problem).miss(right_answer(problem)));
}

TEST_CASE("so they do with a softcap, dlse and queries that saw no key") {
  Rng rng(7);
  Problem problem = quick_problem(rng);
  problem.form.softcap = 2;
  problem.dlse.assign(problem.lse.size(), 0.5f);
  for (std::size_t row = 2; row < problem.lse.size(); row += 7) problem.lse[row] = -kit::kInfinity;
  const JudgedRows rows = all_rows(problem);
  CHECK_FALSE(rows.miss(right_answer(problem)));
  for (auto part : {&Answer::dq, &Answer::dk, &Answer::delta}) {
    Answer answer = right_answer(problem);
    REQUIRE_FALSE((answer.*part).empty());
    (answer.*part).back() += 0.01f;
    CHECK(rows.miss(answer));
  }
}

TEST_CASE("one wrong element in any part is seen, and so is one that is no number") {
  Rng rng(5);
  const Problem problem = quick_problem(rng);
  const JudgedRows rows = all_rows(problem);
  for (auto part : {&Answer::dq, &Answer::dk, &Answer::dv})
    for (std::size_t at = 0; at < (right_answer(problem).*part).size(); at += 13) {
      Answer answer = right_answer(problem);
      (answer.*part)[at] += 0.01f;
      CHECK(rows.miss(answer));
      (answer.*part)[at] = NAN;
      CHECK(rows.miss(answer));
    }
}

TEST_CASE("quick inputs keep to the contract and have weights where float32 is denormal") {
  Rng rng(6);
  Problem problem({1, 1, 1, 160, 300, 64, 4});
  fill_quickly(problem, rng);
  int denormal = 0;
  for (std::int64_t i = 0; i < problem.form.q_len; ++i)
    for (std::int64_t j = 0; j < problem.form.k_len; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < problem.form.dim; ++c)
        score += double(problem.q.row(0, 0, i)[c]) * problem.k.row(0, 0, j)[c];
      const double exponent = problem.form.scale * score - problem.lse[static_cast<std::size_t>(i)];
      CHECK(exponent < 20);
      if (exponent < -88 && exponent > -103) ++denormal;
    }
  CHECK(denormal > 500);
}
