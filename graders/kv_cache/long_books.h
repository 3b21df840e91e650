// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cache.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Books of a cache whose tokens nobody has to hold: forks and cuts are given no pool.
class LongBooks {
 public:
  LongBooks(Probe& probe, Rng& rng, const Setup& setup, const Ids& lengths)
      : probe_(probe), state_(setup, 0) {
    state_.lengths = lengths;
    Ids pages = random_order(rng, setup.pages);
    for (std::int64_t s = 0; s < setup.sequences; ++s)
      for (std::int64_t at = 0; at < state_.used(s); ++at) {
        state_.entry(s, at) = static_cast<std::int32_t>(pages.back());
        state_.refs[static_cast<std::size_t>(pages.back())] = 1;
        pages.pop_back();
      }
  }

  /// What is wrong must be refused.
  void fork(std::int64_t from, std::int64_t to) {
    ForkCall call(state_, from, to);
    const bool good = state_.lengths[static_cast<std::size_t>(to)] == 0;
    const State after = result(call, good);
    good ? books(after).require_forked(from, to) : books(after).require_untouched();
    state_ = after;
  }
  void cut(std::int64_t sequence, std::int64_t length) {
    TruncateCall call(state_, sequence, length);
    const bool good = length <= state_.lengths[static_cast<std::size_t>(sequence)];
    const State after = result(call, good);
    good ? books(after).require_cut(sequence, length) : books(after).require_untouched();
    state_ = after;
  }

 private:
  template <class Call>
  State result(Call& call, bool good) {
    probe_.run_for(call, good ? KV_OK : KV_BAD_ARGUMENT);
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
