// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/check.h"
#include "harness/core/stats.h"
#include "harness/score/rubric.h"
#include "harness/store/observation.h"

namespace gauntlet {

/// What a cell of the matrix can say. A submission that did not take part has no cell at all.
enum class CellStatus {
  graded,      // has a score, which may be 0
  unmeasured,  // nothing could be asked on this machine
  broken,      // we failed; grade it again
};

std::string_view name_of(CellStatus status);

struct SectionScore {
  Section section = Section::correctness;
  std::optional<double> score;  // absent when nothing in it was measured
  int measured = 0;  // checks that blame the submission, or passed and were timed in full
  int total = 0;
  bool partial() const { return measured < total; }
};

/// A failed check that limits the score. Cheating limits it as a fatal failure does, whatever the
/// check's own severity.
struct Cap {
  std::string check;  // kBuildCap and kOutputCap when it is none of the checks
  Severity severity = Severity::minor;
  double cap = 100;
  bool not_asked = false;  // broken or unmeasured, see counts_as_failed
};

inline constexpr std::string_view kBuildCap = "build";    // it does not build
inline constexpr std::string_view kOutputCap = "output";  // every check ended without an answer

/// What the rubric makes of one observation.
struct CellScore {
  CellKey key;
  CellStatus status = CellStatus::graded;
  std::vector<SectionScore> sections;  // only those that have checks
  std::optional<double> raw;           // before caps; absent unless graded
  std::optional<double> score;         // absent unless graded; never above raw
  std::optional<Interval> range;       // where the score may lie, see Assumption; around it
  std::string letter;                  // empty unless graded
  std::vector<Cap> caps;               // every cap below 100 that a failure brought, lowest first
  // Ids of unmeasured and broken checks, "check/case" for a timed case too noisy to count; sorted.
  std::vector<std::string> not_measured;
  int broken = 0;  // how many of them are our fault
  bool failed_to_build = false;
  bool unproven = false;      // no receipt vouches for what it follows from
  std::string grader_digest;  // scores of different graders are not comparable

  bool partial() const { return !not_measured.empty(); }
  /// A failure took points away beyond its own.
  bool capped() const { return failed_to_build || (raw && score && *score < *raw); }
  /// Failed a check that decides comparisons, whether or not its cap lowered the score.
  bool critical_failure() const;
};

CellScore score_cell(const Rubric& rubric, const CellObservation& cell);

/// The same, had this check never been asked.
CellScore score_without(const Rubric& rubric, const CellObservation& cell, std::string_view check);

/// What if. `open` is how that turned out which measuring left open: where in their 95 % intervals
/// timed cases lie, whether those too noisy to count would have earned anything, and whether
/// unmeasured checks would have passed.
struct Assumption {
  enum class Open { as_measured, worst, best };
  Open open = Open::as_measured;
  std::string_view never_asked = {};  // the id of a check that is left out
  std::string_view earned = {};       // the id of a check that got all its points
};

/// The score, without its range, under an assumption.
CellScore score_assuming(const Rubric& rubric, const CellObservation& cell,
                         const Assumption& assumption);

/// True for a check that failed, and for one on which the grade rests and that could not be asked:
/// broken, or critical and unmeasured. Such a check is scored by its worst case until it is asked,
/// so that nobody gains by keeping it from being asked. Unmeasured checks that are not critical,
/// mostly of speed, leave their section's mean instead and widen the range.
bool counts_as_failed(const CheckObservation& check);

/// The share of a check's points that it earned, 0..1; nothing for unmeasured and broken checks.
std::optional<double> earned_share(const Rubric& rubric, const CheckObservation& check,
                                   const Assumption& assumption = {});

/// What the score would be had the failure of this check brought no cap.
double score_without_cap(const CellScore& score, const std::string& check);

/// Schema "gauntlet.score/1".
std::string to_json(const CellScore& score, const Rubric& rubric);

}  // namespace gauntlet
