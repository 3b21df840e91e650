// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/full_looks.h"

#include <doctest/doctest.h>

using namespace gauntlet;

namespace {

/// In how many of 500 races no lap that left something out was judged in full, where that share of
/// laps does and is faster for it. Honest laps differ by 5 %.
int undetected(double share, int laps) {
  int races = 0;
  for (int race = 0; race < 500; ++race) {
    Rng rng(static_cast<std::uint64_t>(race));
    FullLooks looks(rng.seed());
    bool seen = false;
    for (int lap = 0; lap < laps; ++lap) {
      const bool cheats = rng.chance(share);
      const double ns = 1e6 * (1 + 0.05 * rng.normal()) * (cheats ? 0.8 : 1);
      if (looks.wants(ns) && cheats) seen = true;
    }
    races += seen ? 0 : 1;
  }
  return races;
}

}  // namespace

TEST_CASE("whoever leaves something out in enough laps to move the median is seen") {
  CHECK(undetected(0.25, 200) <= 25);  // 1.6 % of 500 expected with six looks of every second lap
  CHECK(undetected(0.10, 200) <= 200);
  CHECK(undetected(0.6, 14) <= 75);  // a slow solution, that runs few laps
}

TEST_CASE("laps slower than most before are not judged, unless all are") {
  FullLooks looks(7);
  int judged_slow = 0;
  for (int lap = 0; lap < 200; ++lap) {
    const double ns = lap % 2 == 0 ? 1e6 : 2e6;
    if (looks.wants(ns) && lap % 2 == 1) ++judged_slow;
  }
  CHECK(judged_slow <= 1);  // the first ones have nothing before them
  CHECK(looks.looks() >= 3);
  FullLooks slower(7);
  for (int lap = 0; lap < 30; ++lap) slower.wants(1e6 + lap);
  CHECK(slower.looks() >= 2);
}
