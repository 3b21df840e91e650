// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/cli/context.h"
#include "harness/score/board.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

/// What --json says about a cell: its score, its seed and its findings.
Json cell_document(const Rubric& rubric, const BoardCell& scored, const CellObservation& cell);

/// "attempts": what several attempts of a submission came to, of each on the board that made some;
/// not there where none did. `only`: the submission of this cell.
void add_attempts(const Board& board, Json& document);
void add_attempts(const Board& board, const CellKey& only, Json& document);

/// Remarks, a line each, on cells whose grader has changed since: what is shown of them stays true
/// of the questions that were asked then. Grades of challenges that this program was built without
/// are left alone.
void remark_older_graders(const Context& context, const std::vector<CellObservation>& cells);

}  // namespace gauntlet
