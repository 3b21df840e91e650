// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "language.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

struct Problem;   // problem.h: problems are drawn with their right answers
struct Settings;  // there as well

struct Hypothesis {
  std::vector<std::int32_t> tokens;
  bool finished = false;
  double log_prob = 0;
  double score = 0;
};

/// The right answer for one item, and what finding it must cost.
struct Expected {
  std::vector<Hypothesis> best;  // n_return or fewer
  std::int64_t steps = 0;
  std::int64_t rows = 0;  // questions to the model after the root: open hypotheses over all steps
  /// Some decision hung on less than 1e-9 between scores of different lp: not to be graded.
  bool close_call = false;
};

double length_penalty(const Settings& settings, std::int64_t length);

/// Searches for item `item` by the letter of the contract: writes every extension down and sorts
/// them all. Rows of more than `kLongRow` tokens are first cut down to what can possibly stay.
Expected decode(const Settings& settings, const Language& language, std::int64_t item);

/// Equal as hypotheses, and found in as many steps.
bool same_result(const Expected& a, const Expected& b);

constexpr std::int64_t kLongRow = 1024;

/// For every item.
std::vector<Expected> expect(const Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
