// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "harness/measure/race.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What is searched in a lap.
struct LapSizes {
  std::int32_t policy = BEAM_SEPARATE;
  std::int64_t batch = 1, beam = 1, vocab = 1, max_new = 1, eos = 1;
};

/// One round's input and its answer, shared by all contestants of the round.
class TimedLap {
 public:
  explicit TimedLap(const LapSizes& sizes) : sizes_(sizes) {}

  void prepare(Rng& inputs);
  /// Every item of the answer is judged.
  Lap run(Session& session) const;

 private:
  LapSizes sizes_;
  std::optional<SolvedProblem> solved_;
  Seed states_;  // the model's: the same for all contestants
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
