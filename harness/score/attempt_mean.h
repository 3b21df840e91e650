// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/score/cell_score.h"

namespace gauntlet {

/// What several attempts of one submission at the same challenge, size and device come to together,
/// in the shape of one cell: the means of their capped scores, at both ends. An attempt in which
/// nothing could be measured, or that broke, lies between 0 and 100. A failed check of any of them
/// is a failure of all together; of different graders there is no common one, and the mean is
/// comparable to nothing. `attempts` holds one or more.
CellScore mean_of(const Rubric& rubric, const std::vector<const CellScore*>& attempts);

}  // namespace gauntlet
