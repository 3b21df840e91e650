// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/stats.h"
#include "harness/score/resampling.h"

namespace gauntlet {

/// How far an entry lies behind another, by low ends, and between which ends resampling puts it.
struct Behind {
  std::size_t ahead = 0;  // which entry of the column
  double points = 0;
  Interval interval;
};

/// A place in a column of scores. Entries that cannot be told from the first of their group share
/// its place, and the next group skips: 1st=, 1st=, 3rd. What could not be measured leaves places
/// open: `number` is what the low end of the own range gives, `best` what its high end may give.
struct Place {
  int number = 1;
  bool shared = false;                     // another entry has this place, or may have it
  std::optional<int> best = std::nullopt;  // where that is before `number`
  // Behind the first of its group; of the first of a group, behind that of the group before. Only
  // where there was something to resample.
  std::optional<Behind> behind = std::nullopt;
};

/// What an entry of a column is placed by.
struct Standing {
  Interval score;     // its two ends, see Grade
  Interval measured;  // where the low end may lie; entries whose intervals meet share a place
  AttemptScores attempts = {};  // that the low end is the mean of; for resampling only
  bool open() const { return score.low < score.high; }
};

/// Places in the order of `column`; none where there is nobody. Entries are ordered by the low ends
/// of their scores. An entry shares the place of the first of its group while it lies less than
/// `band` below it, or the interval of the difference that `resamples` gives holds 0; so that
/// sharing a place is not transitive.
///
/// - What is missing of an entry places it as if it had failed, or lower: never higher.
/// - An entry that was measured in full keeps the place that it has when all that others miss
///   failed.
/// - An entry of which something is missing stands above none that may be as good as it: what
///   others miss counts against it as earned.
using Standings = std::vector<std::optional<Standing>>;
std::vector<std::optional<Place>> placements(double band, const Standings& column,
                                             const Resamples* resamples = nullptr);

/// The same for scores of which nothing is missing.
std::vector<std::optional<Place>> placements(double band,
                                             const std::vector<std::optional<double>>& scores);

/// "1st=", "2nd", "11th"; "2nd..1st" where what is missing leaves the place open.
std::string ordinal(const Place& placement);

}  // namespace gauntlet
