// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/run/runner.h"
#include "harness/run/submissions.h"
#include "harness/score/rubric.h"
#include "harness/store/result_store.h"
#include "harness/store/reuse.h"

namespace gauntlet {

/// A cell on its way to a grade.
struct PlannedCell {
  CellRequest request;
  std::optional<CellObservation> reused;  // still valid: nothing has to run
  std::string why_run;                    // else: "not graded before", "the grader changed: ..."
  std::optional<ReuseKey> wanted;         // what a stored one must answer for; absent: none may
};

/// What a cell is graded with.
struct PlanTerms {
  std::filesystem::path root;  // the checkout
  ResultStore store;
  std::optional<Seed> seed;  // absent: drawn
  bool fresh = false;        // reuse nothing
};

/// Reads the solution and decides whether the stored observation, if any, still answers for it.
/// Throws UserError where the solution is for another device than the key's.
PlannedCell plan_cell(const PlanTerms& terms, const SubmissionFolder& submission,
                      const CellKey& key);

/// Everything that an observation of the request depends on, here and now.
ReuseKey reuse_key(const CellRequest& request);

/// Runs what has to run and keeps every result as soon as it is there; `finished` sees it then.
/// Waits for other processes that grade cells of the plan into the same store, and marks what they
/// graded as reused. Answers in plan order.
std::vector<CellObservation> carry_out(Runner& runner, const ResultStore& store,
                                       const Rubric& rubric, std::vector<PlannedCell>& plan,
                                       const Progress& progress, const Finished& finished = {});

}  // namespace gauntlet
