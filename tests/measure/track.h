// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cmath>

#include "harness/measure/race.h"

namespace gauntlet::test {

using std::chrono::nanoseconds;

/// A contestant that only has a speed; the clock of these tests is made of numbers.
struct Runner : Session {
  explicit Runner(double ns) : ns(ns) {}
  void run(CallBase&) override {}
  void restart() override { ++restarts; }
  void keep_threads_apart() override { apart = true; }
  nanoseconds cpu_time() const override { return cpu; }
  double ns;
  bool apart = false;
  int laps = 0;
  int restarts = 0;
  nanoseconds cpu{};
};

inline RaceBudget rounds_of(int least, int most, int milliseconds) {
  RaceBudget budget{least, most, std::chrono::milliseconds(milliseconds)};
  budget.others = 1;  // other tests may run beside this one
  return budget;
}

struct Track {
  Runner solution;
  Runner reference{1e6};
  Runner reference_again{1e6};
  Rng noise{1};
  double noise_share = 0.02;
  RaceSpec spec;
  RaceBudget budget = rounds_of(15, 15, 0);
  Seed secret = 9;

  explicit Track(double solution_ns) : solution(solution_ns) {
    spec.case_name = "track";
    spec.prepare = [](Rng&, Rng&) {};
    spec.lap = [this](Session& session) {
      auto& runner = dynamic_cast<Runner&>(session);
      ++runner.laps;
      return Lap{nanoseconds(std::int64_t(runner.ns * std::exp(noise_share * noise.normal()))), {}};
    };
  }
  RaceResult run() { return race(spec, budget, secret, solution, reference, reference_again); }

  /// The processors have just lost time to others, as far as can be told from what is used by
  /// ourselves: hours, which no round has, so that what really runs beside the tests is nothing.
  void lose_time() {
    budget.others = 10;  // times as much as there is
    reference.cpu -= std::chrono::hours(1);
  }
};

}  // namespace gauntlet::test
