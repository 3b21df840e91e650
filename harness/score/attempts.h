// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/score/board.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

/// The chance that one of k attempts passes, see pass_at_k: with what could not be measured failed,
/// and passed.
struct PassAtK {
  int k = 1;
  Interval chance;
};

/// What several attempts of a submission came to, in one challenge or over all. Ranges have the two
/// ends of a Grade; an attempt of which nothing could be measured lies between 0 and 100.
struct AttemptSummary {
  int attempts = 0;  // that took part
  Interval mean;
  double lowest = 0;     // the lowest low end
  Interval best;         // both ends of the attempt with the highest low end, and its number:
  int best_attempt = 0;  // the first of equal ones; 0 where none took part in all challenges
  int cells = 0;         // of these attempts; how many passed in the sense of pass@k, or may have
  int passed = 0;
  int may_pass = 0;
  std::vector<PassAtK> pass;  // for the k that are printed, none above the number of attempts
  // The sample's standard deviation (n - 1); none of one attempt, or where something is missing.
  std::optional<double> deviation;
};

/// Of a row that is several attempts; nothing of others, and where it did not take part.
std::optional<AttemptSummary> attempts_in(const Board& board, const std::string& submission,
                                          const std::string& challenge);

/// The same over the standard challenges: the attempts' means, of those that took part in every
/// challenge in which any did, and the mean of the challenges' pass@k as far as all have it.
std::optional<AttemptSummary> attempts_overall(const Board& board, const std::string& submission);

/// A submission that made several attempts: their rows, by number, and what they came to.
struct SubmissionAttempts {
  std::string submission;
  std::vector<std::string> rows;
  std::vector<std::pair<std::string, AttemptSummary>> challenges;  // other sizes behind the others
  std::optional<AttemptSummary> overall;  // none where all took part at other sizes only

  /// Null where none took part.
  const AttemptSummary* find(std::string_view challenge) const;
};

/// All of them, in the board's order.
std::vector<SubmissionAttempts> several_attempts(const Board& board);

Json to_json(const SubmissionAttempts& attempts);

}  // namespace gauntlet
