#pragma once

#include <string>
#include <vector>

#include "harness/report/aggregate.h"

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

}  // namespace gauntlet
