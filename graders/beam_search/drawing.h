// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.h"
#include "graders/kit/domain.h"
#include "problem.h"

/// Searches of given classes of the domain.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// A search of these classes, for who does not need the answer.
Problem problem_of(const kit::Assignment& choice, Rng& rng);

/// The same with the answer. No decision of it hangs on rounding.
SolvedProblem solved_problem_of(const kit::Assignment& choice, Rng& rng);

/// How it is put to the solution.
CallOptions options_of(const kit::Assignment& choice);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
