// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/report/model/aggregate.h"

namespace gauntlet {

/// One line of a head-to-head table. The texts are as hostile as what a submission made a check
/// say.
struct Criterion {
  std::string name;  // "correctness, score", "offset_ladder", "speed: tall_65536x64"
  bool critical = false;
  std::string first;
  std::string second;
  int edge = 0;  // +1 the first, -1 the second
};

/// Section scores, timed cases, and the checks in which one of the two did better, or that only one
/// of them was asked and failed. Nothing unless both took part.
std::vector<Criterion> criteria(const Aggregate& all, const ReportedPair& pair,
                                const std::string& challenge);

/// What one check says of one submission, in few words: "wrong", "passed", "not asked". Null: it
/// did not take part.
std::string outcome_text(const ReportedCell* cell, std::string_view check);

}  // namespace gauntlet
