// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graders/kit/domain.h"
#include "problem.h"

/// What the classes of the domains of matrices and layers mean: problems drawn of an assignment.
namespace gauntlet::GAUNTLET_CHALLENGE {

QuantizeProblem quantize_problem_of(const kit::Assignment& choice, Rng& rng);
LinearProblem linear_problem_of(const kit::Assignment& choice, Rng& rng);

/// Threads and the places of arrays, of the three functions that do not train.
kit::CallOptions options_of(const kit::Assignment& choice);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
