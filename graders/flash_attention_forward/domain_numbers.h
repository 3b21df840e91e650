// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graders/kit/domain.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The part of the domain that is numbers: scale, softcap, how scores lie along the keys, values.
std::vector<kit::Argument> number_arguments();

/// The scores of keys are as far apart as is drawn: no cap and no shared row of keys hides it.
bool shows_heights(const kit::Assignment& choice);

/// These go together: such scores can be had with such a scale.
bool numbers_reachable(const kit::Assignment& choice);

/// Fills scale, softcap and all numbers of a problem of which the sizes stand.
void put_numbers(const kit::Assignment& choice, Rng& rng, Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
