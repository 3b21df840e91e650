// SPDX-License-Identifier: Apache-2.0
// Pairs of laps that count, and pairs that other programs disturbed.
#include <doctest/doctest.h>

#include "track.h"

using namespace gauntlet;
using namespace gauntlet::test;

TEST_CASE("a pair does not count when either lap was held up, and is repeated") {
  Track track(1e6);
  track.budget = pairs_of(15, 15, 1'000'000);
  track.hold_up([&](const Runner& runner) {
    return (&runner == &track.solution && runner.laps % 4 == 0) ||
           (&runner == &track.reference && runner.laps % 4 == 2);
  });
  const RaceResult result = track.run();
  CHECK_FALSE(result.finding);
  CHECK(result.speed.rounds == 15);
  CHECK(track.solution.laps >= 30);  // one pair of two counts
  CHECK(track.solution.laps <= 33);
  CHECK(track.solution.restarts == 0);
}

TEST_CASE("laps of the noise floor that were held up say nothing of it") {
  Track track(1e6);
  track.spec.lap = [&, lap = track.spec.lap](Session& session) {
    Lap one = lap(session);
    if (&session == &track.reference_again && track.reference_again.laps % 2 == 0)
      one.elapsed *= 20;
    return one;
  };
  track.hold_up([&](const Runner& runner) {
    return &runner == &track.reference_again && runner.laps % 2 == 0;
  });
  track.budget = pairs_of(12, 40, 1'000'000);
  const RaceResult result = track.run();
  CHECK_FALSE(result.finding);
  CHECK(result.speed.noise_high < 1.1);
}

TEST_CASE("a solution that is held up more often than the reference has all its laps counted") {
  Track track(2e6);
  track.budget = pairs_of(40, 40, 0);
  int held_up = 0;
  track.hold_up([&](const Runner& runner) {
    const bool slow = &runner == &track.solution && runner.laps % 2 == 0;
    held_up += slow ? 1 : 0;
    return slow;
  });
  // Its honest laps are those that it calls disturbed.
  track.spec.lap = [&, lap = track.spec.lap](Session& session) {
    Lap one = lap(session);
    if (&session == &track.solution && one.lost.count() > 0) one.elapsed *= 4;
    return one;
  };
  const RaceResult result = track.run();
  CHECK(held_up >= 19);
  CHECK(track.solution.laps == 40 + (1 + 40 / kPairsAProcess) * kWarmUps);
  REQUIRE(result.finding);  // half of its laps are slow: no result that leaves those out
  CHECK(result.finding->summary.find("the solution's laps are unsteady") == 0);
}

TEST_CASE("a race on a machine busy with other programs is unmeasured after its part of the time") {
  Track track(1e6);
  track.budget = pairs_of(12, 100, 5);
  track.budget.others = -1;  // less than nothing is too much
  std::chrono::nanoseconds reserve = std::chrono::milliseconds(20);
  track.budget.reserve = &reserve;
  track.hold_up([](const Runner&) { return true; });
  const RaceResult result = track.run();
  REQUIRE(result.finding);
  CHECK(result.finding->verdict == Verdict::unmeasured);
  CHECK(result.finding->summary.find("the machine was busy") == 0);
  CHECK(track.solution.restarts == renewals(track.solution) + 1);
  CHECK(reserve <= std::chrono::milliseconds(15));
}

TEST_CASE("a machine that is busy only while the solution's process lives excuses nothing") {
  Track track(2e6);
  track.budget = pairs_of(12, 100, 5);
  track.budget.others = 10;  // times as much as there is: nothing that really runs here counts
  track.hold_up([](const Runner&) { return true; });
  const RaceResult result = track.run();
  CHECK_FALSE(result.finding);
  CHECK(track.solution.restarts == renewals(track.solution) + 1);
  CHECK(result.speed.rounds >= 12);
  CHECK(result.speed.ratio == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("the few laps of the reference's copy count each, though it grows slower and slower") {
  Track track(1e6);
  track.noise_share = 0;
  track.budget = pairs_of(20, 20, 0);
  track.spec.lap = [&, lap = track.spec.lap](Session& session) {
    if (&session == &track.reference_again) track.reference_again.ns *= 1.02;
    return lap(session);
  };
  const RaceResult result = track.run();
  CHECK_FALSE(result.finding);  // 13 steps, as 3 of 20 are left out on each side
  CHECK(result.speed.noise_high / result.speed.noise_low == doctest::Approx(std::pow(1.02, 13)));
}
