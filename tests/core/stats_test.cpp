// SPDX-License-Identifier: Apache-2.0
#include "harness/core/stats.h"

#include <doctest/doctest.h>

using namespace gauntlet;

// Expected values are NumPy's: numpy.quantile([3, 1, 2, 10], share).
TEST_CASE("quantiles lie on the line between order statistics") {
  CHECK(quantile({3, 1, 2, 10}, 0) == 1);
  CHECK(quantile({3, 1, 2, 10}, 0.25) == 1.75);
  CHECK(quantile({3, 1, 2, 10}, 0.5) == 2.5);
  CHECK(quantile({3, 1, 2, 10}, 1) == 10);
  CHECK(quantile({7}, 0.3) == 7);
  CHECK_THROWS(quantile({}, 0.5));
}

// Expected values are SciPy's: scipy.stats.beta.ppf(0.95, hits + 1, trials - hits).
TEST_CASE("a share that was seen is bounded from above") {
  CHECK(share_at_most(0, 0) == 1);
  CHECK(share_at_most(5, 5) == 1);
  CHECK(share_at_most(0, 1) == doctest::Approx(0.95));
  CHECK(share_at_most(0, 30) == doctest::Approx(0.0950339));
  CHECK(share_at_most(1, 26) == doctest::Approx(0.1698312));
  CHECK(share_at_most(3, 500) == doctest::Approx(0.0154337));
}
