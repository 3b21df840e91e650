// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

#include "fixtures/extreme_fixture.h"
#include "oracle.h"

namespace {

using namespace gauntlet::GAUNTLET_CHALLENGE;

Problem problem_from(const SoftmaxFixture& fixture) {
  Problem made = blank_problem(1, std::ssize(fixture.logits), std::ssize(fixture.indices));
  made.scale = fixture.scale;
  std::ranges::transform(fixture.logits, made.logits.begin(),
                         [](double z) { return static_cast<float>(z); });
  return made;
}

void check_oracle(const SoftmaxFixture& fixture) {
  INFO(fixture.name);
  const Expected expected = expect(problem_from(fixture), Sums::careful);
  CHECK(expected.indices == fixture.indices);
  if (std::isinf(fixture.lse))
    CHECK(expected.lse[0] == fixture.lse);
  else
    CHECK(expected.lse[0] == doctest::Approx(fixture.lse).epsilon(1e-13));
  REQUIRE(expected.probs.size() == fixture.probs.size());
  for (std::size_t j = 0; j < fixture.probs.size(); ++j)
    CHECK(expected.probs[j] == doctest::Approx(fixture.probs[j]).epsilon(1e-11));
}

}  // namespace

TEST_CASE("the oracle agrees with NumPy") {
  for (const SoftmaxFixture& fixture : kSoftmaxFixtures) check_oracle(fixture);
}

TEST_CASE("at the limits of float the oracle agrees with 60 digits") {
  for (const SoftmaxFixture& fixture : kExtremeFixtures) check_oracle(fixture);
}
