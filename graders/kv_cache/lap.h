// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "harness/measure/race.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What is timed: an append of all tokens, or attention to them.
struct TimedCase {
  const char* name;
  KvStored stored;
  std::int64_t sequences;
  std::int64_t tokens;  // of each
  std::int64_t queries;
  bool append;
};

inline constexpr std::int64_t kHeads = 2;
inline constexpr std::int64_t kQueryHeads = 8;
inline constexpr std::int64_t kDim = 128;

/// A cache that `tokens` tokens in each sequence, a multiple of 16, fill to its last page.
Setup setup_for(const TimedCase& timed, std::int64_t tokens);

/// The laps of one case. Every contestant fills a cache of its own, with tokens that are new in
/// each round where appending is timed, and in every eighth where attention is; queries, lengths,
/// the order of sequences and the pages' numbers are new in every round.
///
/// Between an append and what follows, and before every attention, the contestant's process ends
/// and pages move: what an append left undone can be done on nobody's clock, and what was prepared
/// beside the cache is gone. What comes out at the end can only come from the pages: of one
/// sequence that nobody can know beforehand in every lap, of all of them in laps that are judged in
/// full. A fresh process would pay for its threads and the first use of its code on the clock, so
/// that it has a small cache of other tokens first.
class TimedLap {
 public:
  explicit TimedLap(const TimedCase& timed) : case_(timed) {}

  void prepare(Rng& rng, Rng& judge);
  Lap run(Session& session) { return case_.append ? append(session) : attend(session); }

 private:
  /// What a cache is filled with, and asked.
  struct Input {
    Setup setup;
    std::vector<Chunk> chunks;  // one for each sequence
    Ids lengths;                // that queries see, a little less than all
    Problem problem;
  };

  Input draw_cache(Rng& rng, std::int64_t tokens) const;
  void draw_problem(Rng& rng, Input& input) const;
  std::optional<State> fill(Session& session, const Input& input, Lap& lap) const;
  std::optional<Answer> ask(Session& session, const Input& input, State& full, Lap& lap) const;
  void warm_up(Session& session, Lap& lap) const;
  void hand_over(Session& session, State& state) const;
  State* filled_cache(Session& session, Lap& lap);
  Lap attend(Session& session);
  Lap append(Session& session) const;
  std::vector<Tokens> read(Session& session, const State& state, const Ids& sequences,
                           Lap& lap) const;
  std::optional<Miss> sample_miss(const std::vector<Tokens>& stored, const Answer& answer) const;
  std::optional<Finding> judge_all(Session& session, const State& state,
                                   const std::optional<Answer>& answer) const;

  TimedCase case_;
  int rounds_ = 0;
  Input input_;
  std::vector<Tokens> given_;               // those of input_, by sequence
  std::map<const Session*, State> caches_;  // that attention is timed in, filled with given_
  Input small_input_;
  std::int64_t sampled_sequence_ = 0;
  Seed sampled_rows_;
  Seed page_numbers_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
