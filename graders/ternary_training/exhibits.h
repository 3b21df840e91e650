// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model.h"

// What reports show of the graded run.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// The loss over time, as the solution told it.
void show_loss(Probe& probe, const TrainingRun& run);

/// Hidden text, and how the trained model goes on where it ends.
void show_sample(Probe& probe, TrainingRun& run);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
