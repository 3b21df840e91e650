// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graders/kit/domain.h"
#include "oracle.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What the contract allows: the classes of every argument, and what of them goes together. Cases
/// are small, but for a few whose vocabulary or k do not fit into 16 bits.
const kit::Domain& domain();

/// A problem of these classes, with how it is put to the solution. The class of "before" is left to
/// whoever asks.
Problem problem_of(const kit::Assignment& choice, Rng& rng);

/// How much a float sum over such rows may lose.
Sums sums_of(const kit::Assignment& choice);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
