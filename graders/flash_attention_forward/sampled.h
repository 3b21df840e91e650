#pragma once

#include <optional>

#include "ask.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Checks rows that nobody can foresee, drawn after the call, against float64, and that all rows
/// were written. For answers that are too big for a whole oracle.
std::optional<Miss> sampled_miss(const Problem& problem, const Answer& answer, Rng& rng, int rows);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
