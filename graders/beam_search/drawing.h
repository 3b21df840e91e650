// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "call.h"
#include "graders/kit/domain.h"
#include "harness/core/error.h"
#include "problem.h"

/// Searches of given classes of the domain.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// A search of these classes, for who does not need the answer.
Problem problem_of(const kit::Assignment& choice, Rng& rng);

/// Of some classes together hardly any item leaves rounding no decision: many hypotheses of few
/// tokens under a penalty that is nearly none. Nobody could say then which answer is right.
struct HangsOnRounding : Broken {
  using Broken::Broken;
};

/// The same with the answer. No decision of it hangs on rounding; throws HangsOnRounding where no
/// such search was found.
SolvedProblem solved_problem_of(const kit::Assignment& choice, Rng& rng);

/// The same for who can do without: nothing where there is no such search.
std::optional<SolvedProblem> judgeable_problem_of(const kit::Assignment& choice, Rng& rng);

/// How it is put to the solution.
CallOptions options_of(const kit::Assignment& choice);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
