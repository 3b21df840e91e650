// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/grading/cell.h"

namespace gauntlet {

/// Grades one cell in this process, which should be one that may die: a fault of the grader's ends
/// it. Throws Broken when nothing could be asked at all.
GradedCell run_cell(const GradingEnvironment& environment, const CellRequest& request,
                    const Progress& progress);

}  // namespace gauntlet
