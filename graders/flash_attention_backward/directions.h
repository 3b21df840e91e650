// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "harness/core/finding.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Which input is moved.
enum class Moved { q, k, v };

/// Compares <gradient, direction> of every kv head's group with the slope of the loss
/// <dout, o> + <dlse, lse> along a random direction in that input, from central differences of
/// float64 forward passes at two step lengths (Richardson).
std::optional<Miss> slope_miss(const Problem& problem, Rng& rng, Moved moved, const Answer& got);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
