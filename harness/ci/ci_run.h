// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/ci/changed_submissions.h"
#include "harness/score/cell_score.h"
#include "harness/score/rubric.h"
#include "harness/store/observation.h"

namespace gauntlet {

/// An observation with what the current rubric makes of it.
struct ScoredCell {
  CellObservation seen;
  CellScore score;
};

/// A cell that was graded in this run, and what the baseline has of it.
struct CiCell {
  CellObservation seen;
  CellScore score;
  std::string folder;                // of the solution, in the checkout: "submissions/bravo/first"
  std::vector<std::string> files;    // names of its sources, the one that is compiled first ahead
  std::optional<ScoredCell> before;  // absent: the baseline has none

  std::string main_file() const { return folder + "/" + (files.empty() ? "" : files.front()); }
};

/// A submission that changed, or any with --all.
struct CiSubmission {
  ChangedSubmission changed;
  std::vector<std::string> problems = {};  // why it is invalid; nothing of it was graded then
  std::vector<CellKey> lost = {};          // the baseline has these, it has no solution to them now
};

/// What a gate says of one cell. The last two never blame the submission.
enum class GateOutcome {
  passed,
  failed,
  incomparable,  // baseline and cell cannot be compared, so that nothing follows
  unanswered     // the grader or the machine left out what would decide it
};

struct GateAnswer {
  std::string rule;  // "min-grade B", "no-regression"
  CellKey key;
  std::string file;  // that it is about, in the checkout
  GateOutcome outcome = GateOutcome::passed;
  std::string text = {};  // a sentence: why
};

/// Everything that the documents of one CI run are made from.
struct CiRun {
  Rubric rubric;
  std::string version;   // of this program
  std::string base;      // as it was named; empty with --all alone
  std::string base_id;   // the commit of the merge base
  std::string baseline;  // where the grades before come from, in words
  std::vector<CiSubmission> submissions;
  std::vector<CiCell> cells;
  std::vector<GateAnswer> gates;
  std::string fault;  // why the grader could not work at all; empty when it could
  int outside = 0;    // changed files that grade nothing

  int invalid() const;
  int broken() const;   // cells that are our own fault, in part or as a whole
  int failed() const;   // gates
  int lacking() const;  // gates that nothing answers
  /// The verdict of the run in a sentence.
  std::string verdict() const;
};

/// The code that the run ends with: invalid submissions, then what we could not do, then gates.
int exit_code_of(const CiRun& run);

/// True where some of the cell is missing through our own fault.
bool is_broken(const CellScore& score);

}  // namespace gauntlet
