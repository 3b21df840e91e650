// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/ask_check.h"

#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "tests/support/scripted_session.h"

using namespace gauntlet;

TEST_CASE("a fault of ours names the input at which it showed") {
  Scripted session;
  Check check{{"asked", "what it detects"}, [](Probe& probe) {
                probe.begin_case("the third row");
                throw Broken(OwnFault::bug, "parts contradict each other");
              }};
  const CheckObservation seen = ask_check(check, Seed{}, {.solution = session});
  CHECK(seen.verdict == Verdict::broken);
  REQUIRE(seen.finding);
  CHECK(seen.finding->case_name == "the third row");
}
