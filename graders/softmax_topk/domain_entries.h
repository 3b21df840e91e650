// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graders/kit/domain.h"
#include "problem.h"

/// The part of the domain that says what rows hold.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// scale, entries, masked, spoiled rows, behind rows.
std::vector<kit::Argument> entry_arguments();

/// Fills the rows of a problem whose sizes, lengths and scale are set, and what lies behind them.
void put_rows(const kit::Assignment& choice, Rng& rng, Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
