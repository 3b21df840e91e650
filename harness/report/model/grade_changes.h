// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/report/model/report_input.h"

namespace gauntlet {

/// A cell as a report published it.
struct PublishedCell {
  CellObservation seen;
  std::string grade;       // that the pages say, "C+ 79"; empty: it was withdrawn since
  std::string rubric;      // digest of the one that made it
  std::string commitment;  // of its receipt, as the next; empty when there is none
  std::string closing;
};

/// By key.
bool by_name(const PublishedCell& a, const PublishedCell& b);

/// What the pages say of a cell: "C+ 79", "unmeasured".
std::string published_grade(const Rubric& rubric, const CellObservation& cell);

/// What is different about a later observation of a cell: "another solution", "another machine".
std::vector<std::string> what_differs(const CellObservation& before, const CellObservation& after);

/// What a report of `now` says otherwise than the one before: a line for each grade or solution
/// that was replaced, with what is different about the later result. `today` is when a changed
/// rubric is applied.
std::vector<LedgerEntry> grade_changes(const std::vector<PublishedCell>& before,
                                       const ReportInput& now, const std::string& today);

}  // namespace gauntlet
