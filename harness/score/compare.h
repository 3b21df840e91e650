// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "harness/score/cell_score.h"
#include "harness/score/placement.h"

namespace gauntlet {

/// True for scores of the same challenge, grader and device.
bool comparable(const CellScore& a, const CellScore& b);

/// What one shared challenge says about two submissions.
enum class Margin { not_comparable, tie, split, narrow, moderate, decisive, decisive_critical };

std::string_view name_of(Margin margin);

struct PairVerdict {
  Margin margin = Margin::not_comparable;
  int winner = 0;  // +1 the first, -1 the second, 0 nobody
  // The first's points minus the second's; where something is missing, only those between the ends
  // of the two ranges that face each other.
  double difference = 0;
};

/// Not comparable are a missing or ungraded cell, cells of different graders or devices, and cells
/// whose ranges overlap because something could not be measured. `split`: the higher score has
/// failed a critical check and the lower one has not, so that neither may win.
PairVerdict compare(const Rubric& rubric, const CellScore* first, const CellScore* second);

/// Whom one timed case favours: +1 the first, -1 the second, 0 neither. Its interval of the ratio
/// lies above the other's by more than equal_within, and the case counts for both.
int edge(const Rubric& rubric, const SpeedMeasurement& first, const SpeedMeasurement& second);

/// Results of the first-named side; all four add up to the number of challenges.
struct Record {
  int won = 0;
  int lost = 0;
  int tied = 0;  // splits included
  int not_comparable = 0;

  void count(const PairVerdict& verdict);
  void add(const Record& other);
  Record reversed() const { return {lost, won, tied, not_comparable}; }
  std::string_view verb() const;  // "leads", "trails", "is level with", "shares nothing with"
};

}  // namespace gauntlet
