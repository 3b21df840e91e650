// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "harness/measure/race.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Some rows of dq with delta, and of dk with dv, or all, computed pair by pair in float64. They
/// are numbered through, a head's one after the other. Results that nobody wanted are not judged.
class JudgedRows {
 public:
  /// The problem is read here and not kept. Its q, dout and o may have one row for all queries.
  JudgedRows(const Problem& problem, const std::vector<std::int64_t>& queries,
             const std::vector<std::int64_t>& keys);

  std::optional<Miss> miss(const Answer& got) const;

 private:
  struct Row {
    const char* name;
    std::vector<float> Answer::*part;
    std::int64_t index;
    std::vector<double> value, bound;
  };

  static void set_query_rows(const Problem& problem, std::int64_t index, double longest_key,
                             Row& dq, Row& delta);
  static void set_key_rows(const Problem& problem, std::int64_t index, double longest_key, Row& dk,
                           Row& dv);

  std::vector<Row> rows_;
};

/// Rows that nobody can foresee, this many of dq with delta and of dk with dv, or all.
JudgedRows some_rows(const Problem& problem, Rng& judge, int count);
JudgedRows all_rows(const Problem& problem);

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
  std::unique_ptr<JudgedRows> rows_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
