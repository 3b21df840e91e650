// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cmath>
#include <functional>

#include "harness/core/machine.h"
#include "harness/measure/race.h"

namespace gauntlet::test {

using std::chrono::nanoseconds;

/// A contestant that only has a speed; the clock of these tests is made of numbers.
struct Runner : Session {
  explicit Runner(double ns) : ns(ns) {}
  void run(CallBase&) override {}
  void restart() override { ++restarts; }
  void keep_threads_apart() override { apart = true; }
  void enter_race(RaceGround& its) override { ground = &its; }
  void leave_race() override { left = true; }
  nanoseconds cpu_time() const override { return cpu; }
  double ns;
  bool apart = false;
  bool left = false;
  RaceGround* ground = nullptr;
  int laps = 0;
  int restarts = 0;
  nanoseconds cpu{};
};

inline RaceBudget pairs_of(int least, int most, int milliseconds) {
  RaceBudget budget;
  budget.min_pairs = least;
  budget.max_pairs = most;
  budget.time = std::chrono::milliseconds(milliseconds);
  return budget;
}

struct Track {
  Runner solution;
  Runner reference{1e6};
  Runner reference_again{1e6};
  Rng noise{1};
  double noise_share = 0.02;
  RaceSpec spec;
  RaceBudget budget = pairs_of(15, 15, 0);
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

  /// From now on, other programs have a hundred times as much as there is of the processors during
  /// the laps for which this is true.
  void hold_up(std::function<bool(const Runner&)> when) {
    spec.lap = [lap = spec.lap, when = std::move(when)](Session& session) {
      Lap one = lap(session);
      if (when(dynamic_cast<const Runner&>(session)))
        one.lost = 100 * one.elapsed * this_machine().cores;
      return one;
    };
  }
};

inline constexpr int kWarmUps = 2;         // rounds that a race does not count, of each process
inline constexpr int kPairsAProcess = 32;  // then come new ones

/// How often a race has renewed this contestant, who had so many laps.
inline int renewals(const Runner& runner) {
  return (runner.laps - kWarmUps) / (kPairsAProcess + kWarmUps);
}

}  // namespace gauntlet::test
