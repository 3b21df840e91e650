// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graders/kit/domain.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The part of the domain that is numbers: scale, softcap, how scores lie along the keys, v and
/// dout, and what the forward pass is said to have left.
std::vector<kit::Argument> number_arguments();

/// These go together: such scores can be had with such a scale, and all sums of the formulas are
/// representable in float.
bool numbers_representable(const kit::Assignment& choice);

/// A problem of which q, k, v and dout are filled; and, when rows that repeat have been made equal,
/// o, lse and dlse.
Problem drawn_problem(const kit::Assignment& choice, Rng& rng, const Sizes& sizes);
void put_given(const kit::Assignment& choice, Rng& rng, Problem& problem);

/// Zeros, from which no scale makes anything else, and weights of e^-1.
Problem zero_problem(const kit::Assignment& choice, Rng& rng, const Sizes& sizes);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
