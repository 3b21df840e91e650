// SPDX-License-Identifier: Apache-2.0
// Rounds that count, and rounds that other programs disturbed.
#include <csignal>
#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "harness/core/machine.h"
#include "track.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

/// Other programs that take all they can get.
class BusyPrograms {
 public:
  explicit BusyPrograms(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile int spin = 0; spin == 0;) {
        }
      }
      pids_.push_back(pid);
    }
  }
  ~BusyPrograms() {
    for (const pid_t pid : pids_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> pids_;
};

}  // namespace

TEST_CASE("a race on a machine that is busy with other programs is unmeasured") {
  Track track(1e6);
  track.spec.prepare = [](Rng&, Rng&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  const BusyPrograms beside(this_machine().cores);
  CHECK_FALSE(track.run().finding);
  track.budget.others = 0.1;
  const RaceResult result = track.run();
  REQUIRE(result.finding);
  CHECK(result.finding->verdict == Verdict::unmeasured);
  CHECK(result.finding->summary.find("the machine was busy") == 0);
}

TEST_CASE("rounds in which time is lost while the reference runs do not count") {
  Track track(1e6);
  const auto quiet = track.spec.lap;
  track.spec.lap = [&](Session& session) {
    if (&session == &track.reference && track.reference.laps % 3 == 1) track.lose_time();
    return quiet(session);
  };
  track.lose_time();
  const RaceResult result = track.run();
  CHECK_FALSE(result.finding);
  CHECK(result.speed.rounds == 15);
  CHECK(track.solution.laps == 24);  // the first warms up, and of each three the second is lost
}

TEST_CASE("time that is lost while the solution runs makes no round a disturbed one") {
  Track track(1e6);
  const auto quiet = track.spec.lap;
  track.spec.lap = [&](Session& session) {
    if (&session == &track.solution) track.lose_time();
    return quiet(session);
  };
  const RaceResult result = track.run();
  CHECK_FALSE(result.finding);
  CHECK(result.speed.rounds == 15);
  CHECK(track.solution.laps == 16);
  CHECK(track.solution.restarts == 0);
}

TEST_CASE("a machine that is busy only while the solution's process lives excuses nothing") {
  Track track(2e6);
  track.spec.prepare = [&](Rng&, Rng&) {
    if (track.solution.restarts == 0) track.lose_time();
  };
  const RaceResult stopped = track.run();
  CHECK_FALSE(stopped.finding);
  CHECK(track.solution.restarts == 1);
  CHECK(track.solution.laps == 12 + 15);
  CHECK(stopped.speed.ratio == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("what goes on beside a solution that was found out leaves out no further round") {
  Track track(2e6);
  track.spec.prepare = [&](Rng&, Rng&) { track.lose_time(); };
  const RaceResult found_out = track.run();
  CHECK_FALSE(found_out.finding);
  CHECK(found_out.speed.rounds == 15);
  CHECK(track.solution.restarts == 1);
  CHECK(track.solution.laps == 12 + 15);
}
