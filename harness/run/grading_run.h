// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/run/runner.h"
#include "harness/run/submissions.h"
#include "harness/score/rubric.h"
#include "harness/store/result_store.h"

namespace gauntlet {

/// A cell on its way to a grade.
struct PlannedCell {
  CellRequest request;
  std::optional<CellObservation> reused;  // still valid: nothing has to run
  std::string why_run;                    // else: "not graded before", "the grader changed: ..."
};

/// What a cell is graded with.
struct PlanTerms {
  std::filesystem::path root;  // the checkout
  ResultStore store;
  std::optional<Seed> seed;                    // absent: drawn
  bool fresh = false;                          // reuse nothing
  std::optional<std::string> constraint = {};  // of the cluster's nodes; absent: graded here
};

/// Reads the solution and decides whether the stored observation, if any, still answers for it.
/// Throws UserError where the solution is for another device than the key's.
PlannedCell plan_cell(const PlanTerms& terms, const SubmissionFolder& submission,
                      const CellKey& key);

/// Runs what has to run and keeps every result as soon as it is there; `finished` sees it then.
/// Answers in plan order.
std::vector<CellObservation> carry_out(Runner& runner, const ResultStore& store,
                                       const Rubric& rubric, const std::vector<PlannedCell>& plan,
                                       const Progress& progress, const Finished& finished = {});

/// Writes what the rubric makes of a cell.
void keep_score(const ResultStore& store, const Rubric& rubric, const CellObservation& seen);

/// Writes observation, score and receipt of a cell.
void keep(const ResultStore& store, const Rubric& rubric, const GradedCell& cell);

}  // namespace gauntlet
