// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/core/stats.h"
#include "harness/score/rubric.h"

namespace gauntlet {

/// What a score says in letters and whole numbers, whether it is a cell's or a mean. Nothing else
/// turns scores into letters.
///
/// A score is a range. At its low end everything that could not be measured counts as failed, at
/// its high end as passed with all points; the two are one where all was measured. The low end is
/// what everything else follows from: letter, place, gate, record. So a part that could not be
/// measured never raises anything.
struct Grade {
  Interval score;
  std::string letter;       // of the low end
  std::string high_letter;  // of the high end
  int printed = 0;          // the integers that stand for the ends
  int high_printed = 0;

  bool open() const { return score.low < score.high; }
  bool spans() const { return letter != high_letter; }  // more than one letter
};

Grade grade_of(const Rubric& rubric, const Interval& score);

}  // namespace gauntlet
