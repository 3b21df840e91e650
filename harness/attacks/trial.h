// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/attacks/corpus.h"
#include "harness/attacks/decoys.h"
#include "harness/grading/cell.h"

namespace gauntlet {

/// Grades the request as a submission is graded, in a process of its own that is the attack's
/// target, and watches from outside what comes of it.
Evidence try_program(GradingEnvironment environment, const CellRequest& request, const Walls& walls,
                     Decoys& decoys);

}  // namespace gauntlet
