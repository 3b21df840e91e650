// SPDX-License-Identifier: Apache-2.0
#include "directions.h"

#include <doctest/doctest.h>

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

TEST_CASE("slopes of the loss agree with the oracle's gradients and not with others") {
  Rng rng(5);
  Sizes sizes;
  sizes.q_heads = 2;
  sizes.q_len = 9;
  sizes.k_len = 12;
  sizes.dim = sizes.value_dim = 6;
  Problem problem = random_problem(rng, sizes, 1);
  problem.form.softcap = 3;
  problem.dlse.assign(18, 0.5f);
  attend(problem);
  const Expected expected = expect(problem);
  const auto rounded = [](const std::vector<double>& numbers) {
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  Answer answer{
      rounded(expected.value.dq), rounded(expected.value.dk), rounded(expected.value.dv), {}};
  for (const Moved moved : {Moved::q, Moved::k, Moved::v})
    CHECK_FALSE(slope_miss(problem, rng, moved, answer));
  for (float& dk : answer.dk) dk *= 1.001f;
  CHECK(slope_miss(problem, rng, Moved::k, answer));
}
