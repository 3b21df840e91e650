// SPDX-License-Identifier: Apache-2.0
#include "harness/core/parallel.h"

#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>
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

TEST_CASE("what the work throws is thrown when all else is done") {
  for (const int threads : {1, 3}) {
    std::atomic<int> done = 0;
    const auto work = [&](std::size_t i) {
      if (i == 1) throw std::runtime_error("the second");
      ++done;
    };
    CHECK_THROWS_WITH(parallel_for(5, threads, work), "the second");
    CHECK(done == 4);
  }
}
