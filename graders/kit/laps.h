#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// Asks how fast the solution is in each of these. An audit races nothing; there one lap of each is
/// judged instead, so that mutants meet what judges laps as well.
void race(Probe& probe, const std::vector<RaceSpec>& specs, const RaceBudget& budget);

/// Runs a timed call, which must return 0 and leave outputs that `miss` has nothing against. It is
/// asked when the clock has stopped, and only of a call that returned 0.
Lap verified_lap(Session& session, CallBase& call,
                 const std::function<std::optional<Miss>()>& miss);

}  // namespace gauntlet::kit
