// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/grading/cell.h"
#include "harness/score/rubric.h"
#include "harness/store/result_store.h"

namespace gauntlet {

/// Writes observation, score and receipt of a cell, and a line of the ledger where they take the
/// place of others, `because` of what. To be called by who holds the cell's lock. Throws UserError
/// where there is no room: what is written then is not taken for a result, and the ledger says
/// nothing of it.
void keep(const ResultStore& store, const Rubric& rubric, const GradedCell& cell,
          const std::string& because);

/// Writes what the rubric makes of a stored observation, where that is not what score.json says;
/// another grade gets a line of the ledger. Leaves a cell alone that somebody is grading.
/// Answers the grade before, empty where there was no score.
std::string keep_score(const ResultStore& store, const Rubric& rubric, const CellObservation& cell);

/// Makes up for what an interrupted run left undone at a cell whose result is used again.
void finish_keeping(const ResultStore& store, const CellKey& key);

}  // namespace gauntlet
