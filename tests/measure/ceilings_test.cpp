// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/ceilings.h"

#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace gauntlet;

TEST_CASE("the ceilings are those of a machine of this century, and only ever rise") {
  // A look beside other programs finds too little: 0.6 GB/s were read on a crowded machine. A wrong
  // unit stays wrong however often one looks.
  const auto found = [] { return std::min(ceilings().read_gb_per_s, ceilings().copy_gb_per_s); };
  for (int look = 0; look < 50 && found() < 1; ++look) raise_ceilings();
  const Ceilings first = ceilings();
  CHECK(first.read_gb_per_s > 1);
  CHECK(first.read_gb_per_s < 5000);
  CHECK(first.copy_gb_per_s > 1);
  CHECK(first.copy_gb_per_s < 5000);
  CHECK(first.fma_gflop_per_s > 1);
  const Ceilings& again = raise_ceilings();
  CHECK(again.read_gb_per_s >= first.read_gb_per_s);
  CHECK(again.copy_gb_per_s >= first.copy_gb_per_s);
  CHECK(again.cache_gb_per_s >= first.cache_gb_per_s);
  CHECK(again.fma_gflop_per_s >= first.fma_gflop_per_s);
  CHECK(&again == &ceilings());
}

TEST_CASE("a race may look as often as it likes, and has nine tenths of the time to itself") {
  using Clock = std::chrono::steady_clock;
  const auto taken_by = [](const auto& what) {
    const Clock::time_point begin = Clock::now();
    what();
    return Clock::now() - begin;
  };
  ceilings();  // the first takes its memory too
  const auto look = taken_by(raise_ceilings);
  auto again = taken_by(raise_ceilings_now_and_then);
  for (int i = 0; i < 4; ++i) again = std::min(again, taken_by(raise_ceilings_now_and_then));
  CHECK(again < look / 10);
  std::this_thread::sleep_for(11 * look);
  CHECK(taken_by(raise_ceilings_now_and_then) > 10 * again);
}

TEST_CASE("a fork looks by threads of its own") {
  ceilings();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // whoever waits for the other one's threads waits for ever
    raise_ceilings();
    _exit(ceilings().read_gb_per_s > 0 ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("bytes are held against the memory that they have to come from, or go to") {
  // A byte read takes 1/40 ns; a byte stored 2/50 - 1/40 = 3/200 ns more than nothing.
  constexpr Ceilings kMachine{40, 50, 200, 500};
  constexpr double kCache = 1e6;
  CHECK(least_ns({}, kCache, kMachine) == 0);
  CHECK(least_ns({.bytes = 1e9, .written = 0}, 0, kMachine) == doctest::Approx(1e9 / 40));
  CHECK(least_ns({.bytes = 2e9, .written = 1e9}, 0, kMachine) == doctest::Approx(2e9 / 50));
  CHECK(least_ns({.bytes = 1e6, .written = 1e5}, kCache, kMachine) == doctest::Approx(1e6 / 200));
  CHECK(least_ns({.bytes = 3e6}, kCache, kMachine) == doctest::Approx(2e6 / 40 + 1e6 / 200));
  CHECK(least_ns({.bytes = 1e6, .flops = 1e9}, kCache, kMachine) == doctest::Approx(1e9 / 500));
  // Of a cache that nobody knows, nothing is expected.
  CHECK(least_ns({.bytes = 1e6}, kCache, {40, 50, 0, 500}) == doctest::Approx(1e6 / 40));
}
