#pragma once

#include <string>
#include <vector>

#include "harness/cli/submissions.h"

namespace gauntlet {

/// A cell on its way to a grade.
struct PlannedCell {
  CellRequest request;
  std::optional<CellObservation> reused;  // still valid: nothing has to run
  std::string why_run;                    // else: "not graded before", "the grader changed: ..."
};

/// Reads the solution and decides whether the stored observation, if any, still answers for it.
/// Throws UserError where the solution is for another device than the key's.
PlannedCell plan_cell(const Context& context, const SubmissionFolder& submission,
                      const CellKey& key, bool fresh);

/// Runs what has to run and keeps every result as soon as it is there. Answers in plan order.
std::vector<CellObservation> carry_out(const Context& context,
                                       const std::vector<PlannedCell>& plan);

/// Writes observation, score and receipt of a cell.
void keep(const Context& context, const Rubric& rubric, const GradedCell& cell);

/// What --json says about a cell: its score, its seed and its findings.
Json cell_document(const Rubric& rubric, const BoardCell& scored, const CellObservation& cell);

}  // namespace gauntlet
