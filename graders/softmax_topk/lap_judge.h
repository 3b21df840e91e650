#pragma once

#include <optional>
#include <vector>

#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Verifies timed laps over tens of megabytes in milliseconds. The indices of all rows are verified
/// completely: they are in order, and exactly k - 1 entries of the row come before the last one.
/// The sums are verified on rows that the round's secret generator picks, and every probability has
/// to agree with its row's lse.
class LapJudge {
 public:
  /// Keeps a reference to the problem.
  LapJudge(const Problem& problem, Rng& rng);

  std::optional<Fault> judge(const Answer& answer) const;

 private:
  std::optional<Fault> order_fault(const Answer& answer, std::int64_t i) const;
  std::optional<Fault> sum_fault(const Answer& answer, std::int64_t i) const;

  const Problem& problem_;
  Expected sampled_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
