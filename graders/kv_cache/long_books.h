// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "cache.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Sequences of these lengths in any pages, without a pool.
inline State state_of(Rng& rng, const Setup& setup, const Ids& lengths) {
  State state(setup, 0);
  state.lengths = lengths;
  Ids pages = random_order(rng, setup.pages);
  for (std::int64_t s = 0; s < setup.sequences; ++s)
    for (std::int64_t at = 0; at < state.used(s); ++at) {
      state.entry(s, at) = static_cast<std::int32_t>(pages.back());
      state.refs[static_cast<std::size_t>(pages.back())] = 1;
      pages.pop_back();
    }
  return state;
}

/// Books of a cache whose tokens nobody has to hold: forks and cuts are given no pool.
class LongBooks {
 public:
  LongBooks(Probe& probe, State state) : probe_(probe), state_(std::move(state)) {}

  const State& state() const { return state_; }

  /// For what there is of a pool.
  void append(const std::vector<Chunk>& chunks) {
    AppendCall call(state_, chunks);
    State after = result(call, KV_OK);
    const Ids in_place = books(after).require_growth(chunks);
    books(after).require_counted();
    books(after).require_pages_kept(in_place);
    state_ = std::move(after);
  }

  /// What is wrong must be refused.
  void fork(std::int64_t from, std::int64_t to) {
    ForkCall call(state_, from, to);
    const bool good = state_.lengths[static_cast<std::size_t>(to)] == 0;
    const State after = result(call, good ? KV_OK : KV_BAD_ARGUMENT);
    good ? books(after).require_forked(from, to) : books(after).require_untouched();
    state_ = after;
  }
  void cut(std::int64_t sequence, std::int64_t length) {
    TruncateCall call(state_, sequence, length);
    const bool good = length <= state_.lengths[static_cast<std::size_t>(sequence)];
    const State after = result(call, good ? KV_OK : KV_BAD_ARGUMENT);
    good ? books(after).require_cut(sequence, length) : books(after).require_untouched();
    state_ = after;
  }

 private:
  template <class Call>
  State result(Call& call, std::int64_t want) {
    probe_.run_for(call, want);
    State after = state_;
    call.take(after);
    return after;
  }
  Books books(const State& after) const {
    return {state_, after, [this](const std::string& fault) { probe_.fail(fault); }};
  }

  Probe& probe_;
  State state_;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
