// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graders/kit/domain.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The part of the domain that is numbers: eps, given statistics, x, dy, gamma and beta.
std::vector<kit::Argument> number_arguments();

/// The results, and what a float32 solution has to form for them, stay in the range of float.
bool numbers_representable(const kit::Assignment& choice);

/// Gives the arrays of a problem that was drawn the numbers of these classes.
void put_numbers(const kit::Assignment& choice, Rng& rng, Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
