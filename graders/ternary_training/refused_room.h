// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "call.h"
#include "graders/kit/domain.h"

// Calls of ternary_train that have too little room for the checkpoint.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// The size that is needed comes back, and nothing else.
void require_no_space(Probe& probe, TrainingCall& call, std::int64_t want);

/// Too little room for the model, and for one whose sizes take more than 32 bits.
void refuse_space(Probe& probe, const TrainingRequest& good, const kit::Assignment& choice);

/// Models that nobody has room for, of sizes on both sides of what 31, 32, 53 and 64 bits count,
/// some of them 0 or less where only these are kept. Room for all but a byte is not enough. Sizes
/// beyond 53 bits are not compared, since who computes in float64 rounds them.
void refuse_far_too_large(Probe& probe, const TrainingRequest& good, const kit::Assignment& choice);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
