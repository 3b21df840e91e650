#pragma once

#include <optional>
#include <vector>

#include "asking.h"
#include "harness/measure/race.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

struct Shape {
  const char* name;
  KvStored stored;
  std::int64_t sequences;
  std::int64_t tokens;  // of each
  std::int64_t queries;
  bool append;  // the lap appends all tokens; else it attends to them
};

inline constexpr std::int64_t kHeads = 2;
inline constexpr std::int64_t kQueryHeads = 8;
inline constexpr std::int64_t kDim = 128;

/// A cache that `tokens` tokens in each sequence, a multiple of 16, fill to its last page.
Setup setup_for(const Shape& shape, std::int64_t tokens);

/// The rounds of one shape. Every contestant fills a cache of its own in each of them: tokens,
/// queries, lengths, the order of sequences and the pages' numbers are new.
///
/// Between an append and what follows, the contestant's process ends and pages move: what an append
/// left undone can be done on nobody's clock, and what it prepared beside the cache is gone. What
/// comes out at the end can only come from the pages. A fresh process would pay for its threads and
/// the first use of its code on the clock, so that it has a small cache of other tokens first.
class Rounds {
 public:
  explicit Rounds(const Shape& shape) : shape_(shape) {}

  void renew(Rng& rng, Rng& judge);
  Lap lap(Session& session) const { return shape_.append ? append(session) : attend(session); }

 private:
  /// What a cache is filled with, and asked.
  struct Load {
    Setup setup;
    std::vector<Chunk> chunks;
    Ids lengths;  // that queries see, a little less than all
    Question question;
  };

  Load draw(Rng& rng, std::int64_t tokens) const;
  std::optional<State> fill(Session& session, const Load& load, Lap& lap) const;
  std::optional<Answer> ask(Session& session, const Load& load, const State& state, Lap& lap) const;
  void warm_up(Session& session, Lap& lap) const;
  void hand_over(Session& session, State& state) const;
  Lap attend(Session& session) const;
  Lap append(Session& session) const;
  std::vector<Tokens> read_all(Session& session, const State& state, bool all, Lap& lap) const;
  void judge(const std::vector<Tokens>& stored, const Answer& answer, Lap& lap) const;

  Shape shape_;
  Load load_;
  Load small_;
  std::int64_t sampled_sequence_ = 0;
  Seed sampled_rows_;
  Seed page_numbers_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
