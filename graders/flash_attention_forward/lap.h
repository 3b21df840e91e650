// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "harness/measure/race.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Some rows in float64, or all: numbered through, a head's queries one after the other.
class JudgedRows {
 public:
  /// The problem is read here and not kept.
  JudgedRows(const Problem& problem, const std::vector<std::int64_t>& rows);

  /// Also looks for rows that were not written, among all.
  std::optional<Miss> miss(const Answer& got) const;

 private:
  struct Row {
    std::int64_t batch, head, query;
    std::vector<double> o, o_allowed;
    double lse, lse_allowed;
  };

  Row expected_row(const Problem& problem, std::int64_t at) const;
  std::optional<Miss> unwritten(const Answer& got) const;
  std::optional<Miss> miss_of(const Row& row, const Answer& got) const;

  kit::AttentionProblem form_;
  std::vector<Row> rows_;
};

/// Rows that nobody can foresee, or all.
JudgedRows some_rows(const Problem& problem, Rng& judge, int count);
JudgedRows all_rows(const Problem& problem);

/// Maxima go on rising along the keys, so that tiles have to be rescaled; but not so fast that the
/// early keys of a late row could be left out.
void fill_climbing(Problem& problem, Rng& rng);

/// The inputs of one round, and the judge of its laps.
class TimedLap {
 public:
  using Fill = void (*)(Problem&, Rng&);

  TimedLap(const Sizes& sizes, bool causal, const kit::Layout& layout, Fill fill);

  const kit::AttentionProblem& form() const { return problem_.form; }
  void prepare(Rng& inputs, Rng& judge);
  Lap run(Session& session) const;

 private:
  Problem problem_;
  CallOptions options_;
  Fill fill_;
  std::unique_ptr<JudgedRows> rows_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
