// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/score/board.h"

namespace gauntlet {

/// How one check tells the submissions apart. The reference is none of them. Single attempts are
/// counted; places, winners and means are of all attempts of a submission together.
struct Differentiator {
  std::string challenge;
  Device device = Device::cpu;
  CheckInfo check;
  int passed = 0;
  int measured = 0;
  double spread =
      0;             // variance of the earned shares, 1 being the most even split of all or nothing
  double stake = 0;  // points between who loses most by it and who loses least, caps included
  int places = 0;    // that change in its challenge when it and its cap are left out
  int winners = 0;   // of pairs in its challenge, the same
  bool first = false;  // who has the highest mean of those graded everywhere changes

  int pivots() const { return places + winners + (first ? 1 : 0); }
};

/// What the checks tell together.
struct CheckSurvey {
  std::vector<Differentiator> differentiators;  // those with a spread: most pivots, then most stake
  std::vector<Differentiator> failed_by_all;    // of two submissions or more
  int passed_by_all = 0;                        // with all their points
};

/// `cells` are those that the board was made from.
CheckSurvey survey_checks(const Rubric& rubric, const Board& board,
                          const std::vector<CellObservation>& cells);

/// The points that the failure of this check, or what it earned short of everything, took away.
double points_lost(const Rubric& rubric, const CellObservation& cell, const std::string& check);

}  // namespace gauntlet
