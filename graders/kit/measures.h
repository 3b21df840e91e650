#pragma once

#include <cstdint>

#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// Records the largest share of its tolerance that any case of the check used, 0 to 1 for what
/// passes. The one name of this number in all reports.
void note_share(Probe& probe, double share);

/// Runs a call that must succeed, and gives the most memory that the solution's process held during
/// it besides the caller's arrays, in bytes. Ends the check as unmeasured where the machine cannot
/// tell.
std::int64_t peak_bytes(Probe& probe, CallBase& call);

/// The same of a call that comes first in a fresh process: what a solution keeps from earlier calls
/// counts in none of them. The protocol of every check that grades memory.
std::int64_t fresh_peak_bytes(Probe& probe, CallBase& call);

/// Bytes as reports print them.
double mib(std::int64_t bytes);

}  // namespace gauntlet::kit
