// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/seed.h"
#include "harness/report/model/report_input.h"
#include "harness/score/differentiators.h"
#include "harness/score/judge_claims.h"
#include "harness/score/picks.h"
#include "harness/score/profile.h"
#include "harness/score/ranking.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

/// One check of one cell, with what the rubric makes of it.
struct ReportedCheck {
  CheckObservation seen;
  std::optional<double> share;  // of its points, 0..1; absent when unmeasured or broken
  double lost = 0;              // points that the cell would have more had it earned everything
  std::string machine;          // the kind that it ran on
};

/// Whom one check that both were asked favours: +1 the first, -1 the second, 0 neither; nothing
/// unless both have a measured share of its points. Where both were timed, the timed cases decide;
/// one for each side and neither is ahead; on different kinds of machines they decide nothing.
std::optional<int> edge(const Rubric& rubric, const ReportedCheck& first,
                        const ReportedCheck& second);

/// Both passed, and were timed.
bool both_timed(const ReportedCheck& first, const ReportedCheck& second);

/// The same of one timed case, named with its two checks: 0 on different kinds of machines.
int edge(const Rubric& rubric, const ReportedCheck& first, const SpeedMeasurement& own,
         const ReportedCheck& second, const SpeedMeasurement& other);

struct ReportedCell {
  CellScore score;
  std::string row;  // that it stands in, on the board, and its column
  std::string column;
  std::optional<Place> place;
  Seed seed;
  BuildRecord build;
  Provenance provenance;
  std::vector<ReportedCheck> checks;
  std::map<std::string, std::size_t, std::less<>> index;  // of the checks, by id
  int passed = 0;                                         // of them
  int failed = 0;                                         // those that blame the submission
  std::vector<JudgedClaim> stated_claims;                 // what its claims.yaml says, measured
  std::string claims_fault;                               // why that file cannot be read

  const std::string& submission() const { return row; }
  const std::string& challenge() const { return column; }

  /// Null when it was not asked. `hint` is where it may be.
  const ReportedCheck* find(std::string_view check, std::size_t hint = 0) const;
};

/// A row of the matrix.
struct ReportedSubmission {
  std::string name;  // CellKey::row(): with device and attempt where they are not the usual ones
  std::optional<ModelCard> card;
  std::optional<Mean> mean;
  std::optional<Ranked> ranked;  // the reference is not
  std::vector<RoundScore> rounds;
  Shape shape = Shape::too_short;
  std::vector<SectionProfile> sections;
  Record total;  // over all pairs

  bool is_reference() const { return is_reference_row(name); }
};

/// One challenge seen by a pair.
struct PairRow {
  std::string challenge;
  PairVerdict verdict;
  std::optional<double> difference;  // see PairVerdict; absent when not comparable
  int edges_first = 0;               // checks in which the first did better, see edge()
  int edges_second = 0;
  int edges_none = 0;
};

struct ReportedPair {
  std::string first;  // that comes first on the board
  std::string second;
  Record record;                          // from the first's side
  std::optional<double> mean_difference;  // over the challenges that are comparable
  std::vector<PairRow> rows;              // by the board's challenges
  std::optional<std::vector<std::string>>
      unequal_conditions;  // absent when a model card is missing
};

/// A challenge at some size: a column of the matrix.
struct ReportedChallenge {
  std::string name;  // CellKey::column()
  ChallengeTitle about;
  bool standard = true;                 // else at another size: counts in no mean and no record
  std::vector<CheckInfo> checks;        // that any cell was asked, in the grader's order
  std::set<std::string> earned_by_all;  // checks whose points everybody asked earned, all of them
};

/// Everything that reports print, computed once. Pages read this and nothing else, so that each of
/// their numbers stands in aggregate.json.
struct Aggregate {
  Rubric rubric;
  std::vector<ReportedChallenge> challenges;    // the board's, then other sizes
  std::vector<ReportedSubmission> submissions;  // the board's order
  std::vector<ReportedCell> cells;              // by submission, then challenge
  std::vector<ReportedPair> pairs;              // every two submissions, without the reference
  CheckSurvey survey;
  std::vector<Pick> picks;
  std::vector<LedgerEntry> ledger;
  std::vector<AuditRecord> audits;  // of the graders, by challenge; only those that were kept
  bool judged = false;              // there is a page of judgements that others published

  /// Null when no audit of it was kept.
  const AuditRecord* audit(std::string_view challenge) const;

  /// Null when the submission did not take part.
  const ReportedCell* find(std::string_view submission, std::string_view challenge) const;
  const ReportedChallenge& challenge(std::string_view name) const;
  const ReportedSubmission& submission(std::string_view name) const;

  std::vector<std::string> standard_challenges() const;
};

/// The same value for the same input, whatever the order of its cells.
Aggregate aggregate(const ReportInput& input);

/// Schema "gauntlet.aggregate/1", the file aggregate.json.
Json document(const Aggregate& aggregate);

}  // namespace gauntlet
