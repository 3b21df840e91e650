// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/memory.h"

#include <doctest/doctest.h>

#include "tests/support/scripted_session.h"

using namespace gauntlet;
using namespace gauntlet::kit;

TEST_CASE("memory is measured in a fresh process, and not at all where the machine cannot tell") {
  Scripted session;
  Probe probe = probe_of(session);
  Call<Nothing> call("nothing");
  session.script = [&](CallBase& ran) {
    CHECK(ran.measure_memory);
    CHECK(session.restarts == 1);
    ran.peak_bytes = 3 << 20;
  };
  CHECK(mib(fresh_peak_bytes(probe, call)) == 3);
  session.script = [](CallBase& ran) { ran.peak_bytes.reset(); };
  CHECK_THROWS_AS(peak_bytes(probe, call), CheckEnded);
}

TEST_CASE("memory that is held for a small input does not make that for a large one less") {
  constexpr std::int64_t kMiB = 1 << 20;
  const auto held = [](std::int64_t small, std::int64_t large) {
    return held_per_byte({small * kMiB, 10 * kMiB}, {large * kMiB, 20 * kMiB});
  };
  CHECK(held(31, 61) == 3.0);  // the slope; a part of what processes hold does not matter
  CHECK(held(61, 61) == 5.9);
  CHECK(held(46, 61) == 4.4);
  CHECK(held(1, 1) == 0.0);
  CHECK(held(12, 2) == 1.0);
}
