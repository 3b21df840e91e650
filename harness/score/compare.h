// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "harness/score/cell_score.h"

namespace gauntlet {

/// True when two scores answer the same questions: same challenge, grader and device, and the same
/// checks and timed cases measured. A solution that did not build is comparable with all others of
/// its device.
bool comparable(const CellScore& a, const CellScore& b);

/// True when the lower end of one score's range lies above the upper end of the other's, on the
/// same device and by the same grader: what could not be measured cannot change who is ahead.
bool apart(const CellScore& a, const CellScore& b);

/// A place in a column of scores. Entries that cannot be told from the first of their group share
/// its place, and the next group skips: 1st=, 1st=, 3rd.
struct Place {
  int number = 1;
  bool shared = false;  // the group has more than one entry
};

/// Places in the order of `scores`; none where there is no score. Two entries of one group may
/// differ by up to the tie band from its first, so sharing a place is not transitive.
std::vector<std::optional<Place>> placements(const Rubric& rubric,
                                             const std::vector<std::optional<double>>& scores);

/// "1st=", "2nd", "11th".
std::string ordinal(const Place& placement);

/// What one shared challenge says about two submissions.
enum class Margin { not_comparable, tie, split, narrow, moderate, decisive, decisive_critical };

std::string_view name_of(Margin margin);

struct PairVerdict {
  Margin margin = Margin::not_comparable;
  int winner = 0;  // +1 the first, -1 the second, 0 nobody
};

/// A missing or ungraded cell is not comparable; cells that did not answer the same questions are
/// when their ranges are apart, and then the margin is that of the gap between them. `split`: the
/// higher score has failed a critical check and the lower one has not, so that neither may win.
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
