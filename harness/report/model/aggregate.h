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
#include "harness/score/attempts.h"
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
  std::string row;  // that it stands in itself, on the board, and its column
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

/// Several attempts of a submission at one challenge, together.
struct ReportedMean {
  std::string row;  // the submission's
  std::string column;
  CellScore score;
  std::optional<Place> place;
};

/// A row of the matrix.
struct ReportedSubmission {
  std::string
      name;  // of the board's row: with device and attempt where they are not the usual ones
  std::optional<ModelCard> card;
  std::optional<Mean> mean;
  std::optional<Ranked> ranked;  // the reference is not, nor a single attempt of several
  std::vector<RoundScore> rounds;
  Shape shape = Shape::too_short;
  std::vector<SectionProfile> sections;
  Record total;  // over all pairs, listed or not

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
  std::vector<SubmissionAttempts> attempts;     // of those that made several
  std::vector<ReportedSubmission> single;       // each of these attempts, in that order
  std::vector<ReportedMean> means;              // and what they come to in each challenge
  std::vector<ReportedCell> cells;              // by row, then challenge; of single attempts
  std::vector<ReportedPair> pairs;  // every two submissions of a device, without the reference
  // Of thousands of submissions there are millions of pairs: none is listed then, and this says of
  // how many there is no more than their part in Record total.
  std::size_t pairs_not_listed = 0;
  // The cells of a column on a device, without the reference's, in the order of rows().
  std::map<std::pair<std::string, Device>, std::vector<std::size_t>> contestants;
  CheckSurvey survey;
  std::vector<Pick> picks;
  std::vector<LedgerEntry> ledger;
  std::vector<AuditRecord> audits;  // of the graders, by challenge; only those that were kept
  bool judged = false;              // there is a page of judgements that others published

  /// Null when no audit of it was kept.
  const AuditRecord* audit(std::string_view challenge, Device device) const;

  /// Null when it did not take part, and for a submission that made several attempts.
  const ReportedCell* find(std::string_view row, std::string_view challenge) const;

  /// The contestants' cells of its challenge on its device, itself among them.
  const std::vector<std::size_t>& contestants_of(const ReportedCell& cell) const {
    return contestants.at({cell.column, cell.score.key.device});
  }

  /// What stands in the matrix, be it of one attempt or of several; null when it did not take part.
  std::optional<BoardCell> score(std::string_view row, std::string_view challenge) const;

  /// Null unless the submission made several attempts.
  const SubmissionAttempts* attempts_of(std::string_view submission) const;

  /// The rows that have cells: submissions, and the attempts of those that made several.
  std::vector<std::string> rows() const;
  const ReportedChallenge& challenge(std::string_view name) const;
  const ReportedSubmission& submission(std::string_view name) const;

  std::vector<std::string> standard_challenges() const;

  /// See least_p, of as many challenges as count in the means.
  double least_p() const {
    return gauntlet::least_p(static_cast<int>(standard_challenges().size()));
  }
};

/// The same value for the same input, whatever the order of its cells.
Aggregate aggregate(const ReportInput& input);

/// Schema "gauntlet.aggregate/1", the file aggregate.json.
Json document(const Aggregate& aggregate);

}  // namespace gauntlet
