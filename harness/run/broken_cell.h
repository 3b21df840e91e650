// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/core/error.h"
#include "harness/grading/cell.h"

namespace gauntlet {

/// A cell that we failed to grade: every check of it is broken, and none counts against anybody.
CellObservation broken_cell(const CellRequest& request, const Broken& fault);

/// What happens when a cell is done, for progress displays.
CellEvent done_event(const CellObservation& cell);

}  // namespace gauntlet
