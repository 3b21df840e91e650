// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "harness/measure/race.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Verifies timed laps over tens of megabytes in milliseconds. The indices of all rows are verified
/// completely: they are in order, and exactly k - 1 entries of the row come before the last one.
/// The sums are verified on rows that are named, and every probability has to agree with its row's
/// lse.
class LapJudge {
 public:
  /// Keeps a reference to the problem.
  LapJudge(const Problem& problem, const std::vector<std::int64_t>& rows);

  std::optional<Miss> miss(const Answer& answer) const;

 private:
  std::optional<Miss> order_miss(const Answer& answer, std::int64_t i) const;
  std::optional<Miss> prob_miss(const Answer& answer, std::int64_t i) const;

  const Problem& problem_;
  Expected expected_;
};

/// What a row of a timed lap looks like.
using Fill = void (*)(Rng& rng, std::span<float> row);

void fill_random(Rng& rng, std::span<float> row);

/// Every entry is a little above nearly all before it: each one enters a list of the best so far.
void fill_ascending(Rng& rng, std::span<float> row);

/// Runs of 997 that all end at about the same height: the best so far hardly ever improves, and
/// only at places far apart.
void fill_sawtooth(Rng& rng, std::span<float> row);

/// The inputs of one round, and the judge of its laps.
class TimedLap {
 public:
  TimedLap(std::int64_t rows, std::int64_t vocab, std::int64_t k, Fill fill);

  void prepare(Rng& inputs, Rng& judge);
  Lap run(Session& session) const;

 private:
  Problem problem_;
  Fill fill_;
  std::unique_ptr<LapJudge> judge_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
