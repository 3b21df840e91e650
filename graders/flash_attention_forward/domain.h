// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.h"
#include "graders/kit/domain.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What the contract allows: the classes of every argument, and what of them goes together. Cases
/// are small, and their numbers stay within what VALUES says.
const kit::Domain& domain();

/// A problem of these classes, and how it is put to the solution. The class of "before" is left to
/// whoever asks.
Problem problem_of(const kit::Assignment& choice, Rng& rng);
CallOptions options_of(const kit::Assignment& choice, Rng& rng);

/// What the solution is asked before such a problem: one that differs as "before" says.
Problem earlier(const kit::Assignment& choice, Rng& rng, const Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
