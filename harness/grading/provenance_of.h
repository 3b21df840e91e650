// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/grading/cell.h"

namespace gauntlet {

/// What an observation depends on that begins now, on this machine. Ceilings are for whoever
/// measures them.
Provenance provenance_of(const GradingEnvironment& environment, const CellRequest& request);

}  // namespace gauntlet
