// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graders/kit/domain.h"
#include "problem.h"

/// What the classes of the domains mean: problems drawn of an assignment.
namespace gauntlet::GAUNTLET_CHALLENGE {

QuantizeProblem quantize_problem_of(const kit::Assignment& choice, Rng& rng);
LinearProblem linear_problem_of(const kit::Assignment& choice, Rng& rng);

/// A window of text and the checkpoint that is asked about it.
struct ForwardProblem {
  Checkpoint checkpoint;
  Text token;
};
ForwardProblem forward_problem_of(const kit::Assignment& choice, Rng& rng);

/// A request to train for a moment; what `stop` is, is part of it.
TrainingRequest training_request_of(const kit::Assignment& choice, Rng& rng);

/// Threads and the places of arrays, of the three functions that do not train.
kit::CallOptions options_of(const kit::Assignment& choice);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
