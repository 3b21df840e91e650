// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graders/kit/domain.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Calls of so many pairs of queries and keys that solutions take other paths than for those of the
/// domain: keys divided between threads, packed, kept for the next call, or walked without a look
/// at the mask. What a path like that need not do is what it forgets, so each is asked beside other
/// masks, lists, heads, layouts, options and earlier calls. Every pair of these; or one case for
/// each combination of some. A few rows are judged, of the others that they were written.
void ask_large_pairs(Probe& probe);
void ask_large(Probe& probe, const kit::Corner& corner);

/// Of such a corner: one query, few, and more than any block has.
inline const kit::Classes kFewOrManyQueries{"q_len", {"130 to 140", "1", "2 to 4"}};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
