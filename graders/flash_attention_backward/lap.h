#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "harness/measure/race.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Some rows of dq, and of dk with dv, computed pair by pair in float64, for answers that are too
/// big for a whole oracle. Only problems without softcap and dlse.
class SampledRows {
 public:
  /// Draws this many of each. The problem is read here and not kept.
  SampledRows(const Problem& problem, Rng& rng, int rows);

  std::optional<Miss> miss(const Answer& got) const;

 private:
  struct Row {
    const char* name;
    std::vector<float> Answer::*part;
    std::int64_t index;
    std::vector<double> value, bound;
  };

  void add_query(const Problem& problem, Rng& rng, double longest_key);
  void add_key(const Problem& problem, Rng& rng, double longest_key);

  std::vector<Row> rows_;
};

/// Fills a problem that must not cost much to make, without a forward pass: o and lse are what one
/// over more keys might have left, and the contract takes them as they are given. Scores of one
/// query in sixteen spread so far that many weights lie where float32 is denormal.
void fill_quickly(Problem& problem, Rng& rng);

/// The inputs of one round, and the judge of its laps.
class TimedLap {
 public:
  TimedLap(const Sizes& sizes, bool causal);

  const kit::AttentionProblem& form() const { return problem_.form; }
  void prepare(Rng& inputs, Rng& judge);
  Lap run(Session& session) const;

 private:
  std::optional<Miss> miss(const Answer& got) const;

  Problem problem_;
  std::unique_ptr<SampledRows> rows_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
