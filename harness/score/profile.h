// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "harness/score/board.h"

namespace gauntlet {

/// How a submission does in one section, over the challenges that ask about it. What could not be
/// measured is worth 0 at the low ends and 100 at the high ends.
struct SectionProfile {
  Section section = Section::correctness;
  Interval mean;
  int challenges = 0;
  std::optional<Interval> others;   // mean of the other submissions' means; none when alone
  std::optional<double> deviation;  // from the mean of all, in standard deviations; from three on,
                                    // where nothing is missing
};

/// The profiles of the board's submissions in its order, each by section, those with anything
/// measured. The others are all but the reference on the same device.
std::vector<std::vector<SectionProfile>> profiles(const Board& board);

}  // namespace gauntlet
