// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/ci/ci_run.h"

namespace gauntlet {

/// What a run's cells have to be worth. Both rules look at the low end of a score, so that what
/// could not be measured opens no gate; where it is the grader that failed, or the machine could
/// measure nothing at all, the gate has no answer, and nobody is blamed.
struct GateRules {
  std::optional<double> min_score;  // absent: no such gate
  std::string min_word;             // as it was asked for: "B+"
  bool no_regression = false;
};

/// What became of a cell since the baseline.
struct BaselineChange {
  enum class Kind { first_time, same, better, worse, incomparable };
  Kind kind = Kind::first_time;
  std::string text;  // "B 86 -> C+ 79: base passed before"
};

/// A cell is worse where a check that passed fails now, or where its low end fell by the rubric's
/// tie band or more. It is incomparable where another grader asked, where the solution is the same,
/// so that the machine made the difference, and where all that fell was measured on another one.
BaselineChange compare_with_baseline(const Rubric& rubric, const CiCell& cell);

/// The answers of all gates for all cells of the run, and for those that it lost.
std::vector<GateAnswer> ask_gates(const GateRules& rules, const CiRun& run);

/// The score that a word stands for: "B+", "83" or "83.5". Throws UserError naming the option.
double score_of_word(const Rubric& rubric, const std::string& option, const std::string& word);

}  // namespace gauntlet
