// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/given_time.h"

#include <doctest/doctest.h>

using namespace gauntlet;

namespace {

/// Seems to have used `step` more of the processors each time that somebody asks: hours, against
/// which what really happens is nothing.
struct Accountant : Session {
  explicit Accountant(std::chrono::nanoseconds step) : step(step) {}
  void run(CallBase&) override {}
  void restart() override {}
  std::chrono::nanoseconds cpu_time() const override { return used += step; }
  std::chrono::nanoseconds step;
  mutable std::chrono::nanoseconds used{};
};

double seconds_of_waiting(const Accountant& worker, double longest) {
  GivenTime given(worker);
  const auto begin = std::chrono::steady_clock::now();
  given.wait_for_quiet(std::chrono::duration<double>(longest));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("what others took of a call's time is told") {
  const Accountant busy(-std::chrono::hours(1));
  GivenTime given(busy);
  if (AwakeCores().count() == 0) return;
  given.start();
  CHECK(given.lost() > GivenTime::kMostLost);
  const Accountant alone(std::chrono::hours(1));
  CHECK(GivenTime(alone).lost() < GivenTime::kMostLost);
}

TEST_CASE("a quiet machine is waited for, and not for ever") {
  if (AwakeCores().count() == 0) return;
  CHECK(seconds_of_waiting(Accountant(-std::chrono::hours(1)), 1) >= 1);
  CHECK(seconds_of_waiting(Accountant(std::chrono::hours(1)), 600) < 300);
}
