// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/score/board.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

/// What --json says about a cell: its score, its seed and its findings.
Json cell_document(const Rubric& rubric, const BoardCell& scored, const CellObservation& cell);

}  // namespace gauntlet
