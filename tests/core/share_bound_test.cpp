// SPDX-License-Identifier: Apache-2.0
#include "harness/core/share_bound.h"

#include <cmath>
#include <doctest/doctest.h>
#include <stdexcept>

using namespace gauntlet;

TEST_CASE("the upper bound of a share is that of Clopper and Pearson") {
  CHECK(upper_bound_of_share(0, 500) == doctest::Approx(1 - std::pow(0.05, 1 / 500.0)));
  CHECK(upper_bound_of_share(0, 1) == doctest::Approx(0.95));
  // scipy.stats.beta.ppf(0.95, hits + 1, of - hits)
  CHECK(upper_bound_of_share(5, 100) == doctest::Approx(0.1022532).epsilon(1e-4));
  CHECK(upper_bound_of_share(1, 20) == doctest::Approx(0.2161062).epsilon(1e-4));
  CHECK(upper_bound_of_share(20, 20) == 1);
  CHECK_THROWS_AS(upper_bound_of_share(3, 2), std::invalid_argument);
}
