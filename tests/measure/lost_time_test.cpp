// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/lost_time.h"

#include <doctest/doctest.h>
#include <thread>

using namespace gauntlet;

namespace {

struct Worker : Session {
  void run(CallBase&) override {}
  void restart() override {}
  std::chrono::nanoseconds cpu_time() const override { return cpu; }
  std::chrono::nanoseconds cpu{};
};

constexpr std::chrono::hours kLong{1};  // against which what really happens is nothing

}  // namespace

TEST_CASE("time that was used while nobody watched is neither lost nor gained") {
  AwakeCores awake;
  if (awake.count() == 0) return;
  Worker worker;
  LostTime lost_time(awake, {&worker});
  lost_time.pause();
  worker.cpu -= kLong;
  lost_time.resume();
  CHECK(lost_time.share() < 10);
  worker.cpu -= kLong;
  CHECK(lost_time.share() > 10);
  lost_time.pause();
  worker.cpu += kLong;
  lost_time.resume();
  CHECK(lost_time.share() > 10);
  lost_time.start();
  CHECK(lost_time.share() < 10);
}

// Whatever else runs, nobody uses more time than there is: but a thread whose time is brought up to
// date at clock ticks only has used four milliseconds of the one before each tick.
TEST_CASE("short times are told exactly, between clock ticks as well") {
  AwakeCores awake;
  if (awake.count() < 2) return;
  LostTime lost_time(awake, {});
  constexpr int kLooks = 100;
  int more_than_all = 0;
  for (int look = 0; look < kLooks; ++look) {
    lost_time.start();
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    while (std::chrono::steady_clock::now() < end) {
    }
    more_than_all += lost_time.share() < -0.1 ? 1 : 0;
  }
  CHECK(more_than_all <= kLooks / 20);  // one in four with such threads
}

TEST_CASE("what other programs have between start and stop is told in processor time") {
  AwakeCores awake;
  if (awake.count() == 0) return;
  Worker worker;
  LostTime lost_time(awake, {&worker});
  lost_time.starts();
  worker.cpu -= kLong;
  CHECK(lost_time.stops() > kLong - std::chrono::minutes(1));
  lost_time.starts();
  worker.cpu += kLong;
  CHECK(lost_time.stops() == std::chrono::nanoseconds());
}
