#pragma once

#include <vector>

#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// Asks how fast the solution is in each of these. An audit races nothing; there one lap of each is
/// judged instead, so that mutants meet what judges laps as well.
void race(Probe& probe, const std::vector<RaceSpec>& specs, const RaceBudget& budget);

}  // namespace gauntlet::kit
