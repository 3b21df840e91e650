// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <doctest/doctest.h>

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

TEST_CASE("drawn lengths stay in their range and lie near multiples of tiles") {
  Rng rng(3);
  for (int n = 0; n < 200; ++n) {
    const std::int64_t length = near_tile_edge(rng, 65, 170);
    CHECK(length >= 65);
    CHECK(length <= 170);
    CHECK((length + 1) % 16 <= 2);
  }
}
