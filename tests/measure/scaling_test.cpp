// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/scaling.h"

#include <doctest/doctest.h>
#include <map>

using namespace gauntlet;

namespace {

/// A solution that need not run: laps say by themselves how long they took.
struct Idle : Session {
  int restarts = 0;
  bool apart = false;
  void run(CallBase&) override {}
  void restart() override { ++restarts; }
  void keep_threads_apart() override { apart = true; }
  std::chrono::nanoseconds cpu_time() const override { return cpu; }
  std::chrono::nanoseconds cpu{};
};

ScalingQuestion question(const std::function<Lap(std::int64_t size, int lap)>& lap) {
  ScalingQuestion question;
  question.axis = "rows";
  question.sizes = {10, 20, 40, 80};
  question.others = 1e9;                  // whatever else runs
  question.time = std::chrono::hours(1);  // however slow the machine is
  question.at = [lap, counts = std::map<std::int64_t, int>()](std::int64_t size, Rng&,
                                                              Rng&) mutable {
    return [lap, size, count = counts[size]++](Session&) { return lap(size, count); };
  };
  return question;
}

Lap took(std::int64_t ns) {
  return {std::chrono::nanoseconds(ns), {}};
}

}  // namespace

TEST_CASE("the growth of time is the fastest lap of each size") {
  Idle solution;
  const Growth growth = measure_growth(
      question([](std::int64_t size, int lap) { return took(size * 100 + (lap == 1 ? 0 : 7)); }), 1,
      solution);
  CHECK(growth.axis == "rows");
  CHECK(growth.fault.empty());
  REQUIRE(growth.points.size() == 4);
  for (const auto& [size, ns] : growth.points) CHECK(ns == size * 100);
  CHECK(solution.restarts == 1);
  CHECK(solution.apart);
}

TEST_CASE("a wrong or failing lap ends the growth at the size before, and says why") {
  Idle solution;
  const Growth wrong = measure_growth(question([](std::int64_t size, int lap) {
                                        Lap one = took(size);
                                        if (size == 40 && lap == 2) {
                                          one.finding = Finding{};
                                          one.finding->summary = "dx[0] is off";
                                        }
                                        return one;
                                      }),
                                      1, solution);
  CHECK(wrong.fault == "dx[0] is off");
  CHECK(wrong.points.size() == 2);
  const Growth dead = measure_growth(question([](std::int64_t size, int) -> Lap {
                                       if (size > 10)
                                         throw SolutionFailure(Verdict::crashed, "SIGSEGV");
                                       return took(size);
                                     }),
                                     1, solution);
  CHECK(dead.fault == "SIGSEGV");
  CHECK(dead.points.size() == 1);
}

TEST_CASE("laps beside which other programs run do not count") {
  Idle solution;
  ScalingQuestion busy = question([](std::int64_t size, int) { return took(size); });
  busy.others = -1e9;  // any share at all is too much
  const Growth growth = measure_growth(busy, 1, solution);
  CHECK(growth.points.empty());
  CHECK(growth.fault.find("the machine was busy: in ") == 0);
}

// As in race_test: hours are lost, and ten times what there is counts as much.
TEST_CASE("time that is lost while the solution runs leaves out no lap") {
  Idle solution;
  ScalingQuestion hopping = question([&](std::int64_t size, int) {
    solution.cpu -= std::chrono::hours(1);
    return took(size);
  });
  hopping.others = 10;
  const Growth growth = measure_growth(hopping, 1, solution);
  CHECK(growth.fault.empty());
  CHECK(growth.points.size() == 4);
  CHECK(solution.restarts == 1);  // no need to look what the machine does without it
}

TEST_CASE("laps beside which only the solution's own doing goes on count") {
  Idle solution;
  ScalingQuestion question_beside = question([](std::int64_t size, int) { return took(size); });
  question_beside.at = [&, quiet = question_beside.at](std::int64_t size, Rng& a, Rng& b) {
    solution.cpu -= std::chrono::hours(1);
    return quiet(size, a, b);
  };
  question_beside.others = 10;
  const Growth growth = measure_growth(question_beside, 1, solution);
  CHECK(growth.fault.empty());
  REQUIRE(growth.points.size() == 4);
  for (const auto& [size, ns] : growth.points) CHECK(ns == size);
  CHECK(solution.restarts == 2);
}

TEST_CASE("a slow solution is timed at fewer sizes, at three at least") {
  Idle solution;
  ScalingQuestion slow = question([](std::int64_t size, int) { return took(size); });
  slow.time = std::chrono::milliseconds(0);
  const Growth growth = measure_growth(slow, 1, solution);
  CHECK(growth.points.size() == 3);
  CHECK(growth.fault.empty());
}
