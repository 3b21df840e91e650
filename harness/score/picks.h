// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/score/needs.h"

namespace gauntlet {

/// One submission looked at for one need.
struct Candidate {
  std::string submission;
  double value = 0;  // of the need's measure, what could not be measured counting as failed
  double high = 0;   // the same, counting as passed; infinite for a speed
  bool vetoed = false;
};

/// Who serves a need best on one device, if anybody clearly does.
struct Pick {
  Need need;
  Device device = Device::cpu;
  std::vector<Candidate> candidates;  // best value first, vetoed ones last
  std::string submission;             // empty: no clear pick
};

/// For each need, a pick for each device on which anything was graded. `cells` are those that the
/// board was made from, `round_of` the rounds of its challenges. The reference is no candidate.
std::vector<Pick> pick(const Rubric& rubric, const std::vector<Need>& needs, const Board& board,
                       const std::vector<CellObservation>& cells, const std::vector<int>& round_of);

}  // namespace gauntlet
