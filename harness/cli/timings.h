// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/grading/cell.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

/// Where the time of the cells that were graded went, in the order in which they ended.
using TimingsOfCells = std::vector<std::pair<CellKey, CellTimings>>;

/// A table for people; `ahead`: seconds before the first cell began, for all together.
std::string timings_text(const TimingsOfCells& cells, double ahead);

/// The same for programs.
Json timings_document(const TimingsOfCells& cells, double ahead);

}  // namespace gauntlet
