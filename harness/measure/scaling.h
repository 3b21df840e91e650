// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/measure/race.h"

namespace gauntlet {

/// How the time of a challenge's call grows with its N. Sizes are far enough from nothing that
/// starting threads is no part of the answer.
struct ScalingQuestion {
  std::string axis;                 // what N counts: "rows"
  std::vector<std::int64_t> sizes;  // ascending, each the same multiple of the one before
  /// Makes the input of one lap of a size; what comes back runs a contestant once on it and
  /// verifies what it wrote. The streams are those of RaceSpec::prepare.
  std::function<std::function<Lap(Session&)>(std::int64_t size, Rng& inputs, Rng& judge)> at;
  std::chrono::milliseconds time{600};  // for the laps; a first one of three sizes is always run
  /// A lap whose input was made while other programs had more than this of the processors does not
  /// count, unless the machine is less busy without the solution's process: see RaceBudget.
  double others = 0.1;
};

/// The fastest lap of each size, in nanoseconds, of those that count. A lap that fails or is wrong
/// ends the measurement at the size before: only verified work has a time.
Growth measure_growth(const ScalingQuestion& question, const Seed& secret, Session& solution);

}  // namespace gauntlet
