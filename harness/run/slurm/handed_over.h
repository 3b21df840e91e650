// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/run/slurm/job_folder.h"

namespace gauntlet {

/// What an answered try left in its folder, if it is a grade of what was asked for: a cell whose
/// receipt fits, of this request's files and seed, or one that broke while it was graded. Throws
/// UserError that says what is wrong with it.
GradedCell handed_over(const JobFolder& folder, const CellTry& one, const CellRequest& request);

}  // namespace gauntlet
