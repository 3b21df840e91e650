#pragma once

#include <optional>

#include "ask.h"
#include "harness/core/finding.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Rows of dq and rows of dk and dv, drawn with `rng` and compared with the oracle: for inputs that
/// are too large to compute as a whole. `rows` of each.
std::optional<Miss> sampled_miss(const Problem& problem, const Answer& got, Rng& rng, int rows);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
