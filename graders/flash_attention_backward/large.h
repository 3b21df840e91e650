#pragma once

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Problems of the size that people run. Making them must not cost much: they are made anew for
// every round of a race.

/// A problem whose arrays are still to be filled; scale is 1 / sqrt(dim).
Problem hollow_problem(const Sizes& sizes);

/// Fills the arrays without a forward pass: o and lse are what one over more keys might have left,
/// and the contract takes them as they are given. Scores of one query in sixteen spread so far that
/// many weights lie where float32 is denormal.
void fill_quickly(Problem& problem, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
