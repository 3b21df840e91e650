// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graders/kit/domain.h"
#include "problem.h"

/// What the classes of the domains of ternary_forward and ternary_train mean.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// A window of text and the checkpoint that is asked about it.
struct ForwardProblem {
  Checkpoint checkpoint;
  Text token;
};
ForwardProblem forward_problem_of(const kit::Assignment& choice, Rng& rng);

/// A request to train for a moment; what `stop` is, is part of it.
TrainingRequest training_request_of(const kit::Assignment& choice, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
