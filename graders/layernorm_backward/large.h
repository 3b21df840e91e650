// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graders/kit/domain.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Steps of so many elements that solutions take other paths than for those of the domain: with
/// threads, in blocks, past the caches. What a solution need not do there is what a path is made
/// for, so each is asked beside other outputs, arrays that are absent, gaps, statistics and rows.
/// Every pair of these; or one case for each combination of some. None on a simulated device, which
/// takes seconds for such a call.
void ask_large_pairs(Probe& probe);
void ask_large(Probe& probe, const kit::Corner& corner);

/// Of such a corner: some thousand rows, and some that are long.
inline const kit::Classes kFewOrManyRows{"cols", {"30 to 60", "16400 to 17000"}};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
