// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <doctest/doctest.h>

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

struct Silent : Session {
  void run(CallBase&) override {}
  void restart() override {}
};

Finding end_by_the_clock(double lost, bool audit) {
  Silent session;
  Probe probe({"check_id", "a fault", Section::correctness, 1, Severity::major}, 7,
              {.solution = session, .audit = audit});
  try {
    fail_by_the_clock(probe, lost, "too late");
  } catch (const CheckEnded& ended) {
    return ended.finding;
  }
}

}  // namespace

TEST_CASE("who was not given the time is not judged by what was missed") {
  const Finding busy = end_by_the_clock(0.31, false);
  CHECK(busy.verdict == Verdict::unmeasured);
  CHECK(busy.summary.find("too late; but the machine was busy") == 0);
  CHECK(busy.summary.find("31 %") != std::string::npos);
  CHECK(end_by_the_clock(0.09, false).verdict == Verdict::wrong);
  CHECK(end_by_the_clock(0.09, false).summary == "too late");
  CHECK(end_by_the_clock(0.31, true).verdict == Verdict::wrong);
}
