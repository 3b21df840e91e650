// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/check.h"
#include "harness/core/stats.h"
#include "harness/score/grade.h"
#include "harness/store/observation.h"

namespace gauntlet {

/// What a cell of the matrix can say. A submission that did not take part has no cell at all.
enum class CellStatus {
  graded,      // has a score, which may be 0
  unmeasured,  // nothing could be asked on this machine
  broken,      // we failed; grade it again
};

std::string_view name_of(CellStatus status);

/// A section's weighted mean, 0..100, at both ends of the cell's range.
struct SectionScore {
  Section section = Section::correctness;
  double score = 0;    // the low end
  double high = 0;     // the high end
  bool asked = false;  // something in it was measured
  int measured = 0;    // checks that blame the submission, or passed and were timed in full
  int total = 0;
};

/// A failed check that limits the score. Cheating limits it as a fatal failure does, whatever the
/// check's own severity.
struct Cap {
  std::string check;  // kBuildCap and kOutputCap when it is none of the checks
  Severity severity = Severity::minor;
  double cap = 100;
  bool not_asked = false;  // broken or unmeasured: it might have failed
};

inline constexpr std::string_view kBuildCap = "build";    // it does not build
inline constexpr std::string_view kOutputCap = "output";  // every check ended without an answer

/// What the rubric makes of one observation. See Grade for what the two ends of a score are.
struct CellScore {
  CellKey key;
  CellStatus status = CellStatus::graded;
  std::vector<SectionScore> sections;  // only those that have checks
  std::optional<double> raw;           // the low end before caps; absent unless graded
  std::optional<double> high_raw;      // the high end before caps; absent unless graded
  std::optional<double> score;         // the low end; absent unless graded; never above raw
  std::optional<double> high;          // the high end; absent unless graded
  Grade grade;                         // of both ends; empty letters unless graded
  // Where what was measured may lie, timed cases being at the ends of their 95 % intervals: with
  // what was not measured failed, and around both ends of the score.
  std::optional<Interval> measured;
  std::optional<Interval> range;
  std::vector<Cap> caps;  // every cap below 100 at the low end, lowest first
  // Ids of unmeasured and broken checks, "check/case" for a timed case too noisy to count; sorted.
  std::vector<std::string> not_measured;
  std::vector<std::string> reasons;  // "check: why it is not measured", in the same order
  int broken = 0;                    // how many of them are our fault
  bool failed_to_build = false;
  bool unproven = false;  // no receipt vouches for what it follows from
  // For pass@k: it passed every check of the rubric's passing sections; what could not be measured
  // did not pass, or may have.
  bool passed = false;
  bool may_pass = false;
  std::vector<double> attempts;  // of a mean_of several: the low ends, falling
  std::string grader_digest;     // scores of different graders are not comparable

  bool partial() const { return !not_measured.empty(); }
  /// Both ends of the score; only where there is one.
  Interval ends() const { return {*score, high.value_or(*score)}; }
  /// What could not be measured may be worth something.
  bool open() const { return score && high && *score < *high; }
  /// A failure took points away beyond its own, at either end.
  bool capped() const {
    return failed_to_build || (score && (*score < *raw || (high_raw && *high < *high_raw)));
  }
  /// Failed a check that decides comparisons, whether or not its cap lowered the score.
  bool critical_failure() const;
};

CellScore score_cell(const Rubric& rubric, const CellObservation& cell);

/// The same, had this check never been asked.
CellScore score_without(const Rubric& rubric, const CellObservation& cell, std::string_view check);

/// What if.
struct Assumption {
  enum class Missing { failed, earned };            // what could not be measured
  enum class Times { measured, slowest, fastest };  // where in their 99 % intervals ratios lie
  Missing missing = Missing::failed;
  Times times = Times::measured;
  std::string_view never_asked = {};  // the id of a check that is left out
  std::string_view gained = {};       // the id of a check that got all its points
};

/// The score under an assumption, at one end only.
CellScore score_assuming(const Rubric& rubric, const CellObservation& cell,
                         const Assumption& assumption);

/// The share of a check's points that it earned, 0..1; nothing for unmeasured and broken checks,
/// and for timed ones none of whose cases counts. Cases that do not count earn nothing.
std::optional<double> earned_share(const Rubric& rubric, const CheckObservation& check);

/// What the score would be had the failure of this check brought no cap.
double score_without_cap(const CellScore& score, const std::string& check);

/// Schema "gauntlet.score/1".
std::string to_json(const CellScore& score, const Rubric& rubric);

}  // namespace gauntlet
