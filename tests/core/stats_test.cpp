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
