// SPDX-License-Identifier: Apache-2.0
#include "harness/core/parallel.h"

#include <atomic>
#include <doctest/doctest.h>
#include <vector>

using namespace gauntlet;

TEST_CASE("every index is worked on once, for fewer, as many and more threads than indices") {
  for (const std::size_t count : {0, 1, 2, 100})
    for (const int threads : {1, 2, 7}) {
      CAPTURE(count);
      CAPTURE(threads);
      std::vector<std::atomic<int>> times(count);
      parallel_for(count, threads, [&](std::size_t i) { ++times[i]; });
      for (const auto& seen : times) CHECK(seen == 1);
    }
}
