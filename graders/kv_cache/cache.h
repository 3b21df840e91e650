// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A solution's cache and a model of it. Every operation is done by the solution and checked
/// against the model: return value, bookkeeping, pages that must not change. Before each of them
/// what is not in use is poisoned. A fault ends the check, with the operations so far as evidence.
class Cache {
 public:
  /// What is poisoned, and where pages move to, is drawn from `seed`.
  Cache(Probe& probe, const Setup& setup, const Seed& seed);

  /// All chunks in one call. Where pages or the table do not suffice, it must be refused and is.
  /// Returns whether the tokens were appended.
  bool append(const std::vector<Chunk>& chunks);
  bool append(std::int64_t sequence, const Tokens& tokens) { return append({{sequence, tokens}}); }

  /// With wrong arguments, they must be refused and are.
  void fork(std::int64_t from, std::int64_t to);
  /// The same for `to`, `to` + 1, ... `last`, by the caller's own hand: a call for each would take
  /// too long where they are very many.
  void fork_by_hand(std::int64_t from, std::int64_t to, std::int64_t last);
  /// Sequences from `first` on have all pages of the pool that nobody is asked for, by the caller's
  /// own hand.
  void hold_far_pages(std::int64_t first);
  void truncate(std::int64_t sequence, std::int64_t length);
  void free(std::int64_t sequence) { truncate(sequence, 0); }

  /// What is stored, which must be as near to what was appended as the contract wants it.
  Tokens read(std::int64_t sequence, std::int64_t begin, std::int64_t tokens);
  Tokens read(std::int64_t sequence) { return read(sequence, 0, length(sequence)); }
  void require_contents();
  /// The same of a few sequences where there are many, the first and the last among them, but for
  /// those that were read since their last token came; and of some tokens of the first.
  void require_some_contents();

  /// All that is in use is as it was: for calls that had to be refused.
  void require_untouched(const State& after) const { books(after).require_untouched(); }

  Answer attend(const Problem& problem);
  /// Attention over what is stored, against the oracle; returns it.
  Answer require_right(const Problem& problem);
  /// The same, and so many times more: each answers with the same bits.
  void require_right_again(const Problem& problem, int times);
  /// Attention with queries drawn, the last `queries` of each of `which`.
  void require_right(Rng& rng, const Ids& which, std::int64_t queries, std::int64_t q_heads);
  void require_close(const Answer& answer, const Expected& expected);

  /// What is stored, of the sequences that a problem is about: what was appended as KV_F32, and
  /// what the solution says otherwise.
  std::vector<Tokens> stored_for(const Problem& problem);

  const Setup& setup() const { return state_.setup; }
  const State& state() const { return state_; }
  State& state() { return state_; }
  const std::vector<Tokens>& contents() const { return contents_; }
  std::int64_t length(std::int64_t sequence) const {
    return state_.lengths[static_cast<std::size_t>(sequence)];
  }

  [[noreturn]] void fail(const std::string& summary) const;
  void require(const std::optional<Miss>& miss) const;
  /// The setup and every operation so far, for evidence.
  std::vector<std::string> steps() const;

 private:
  void prepare();
  void read_unless_known(std::int64_t sequence);
  void run(CallBase& call, std::int64_t want);
  void run_reading(CallBase& call);
  void adopt(State after, const Ids& changed_pages);
  Books books(const State& after) const;

  Probe* probe_;
  State state_;
  std::vector<Tokens> contents_;
  std::vector<Tokens> stored_;  // as far as it was asked for
  Rng rng_;
  std::vector<std::string> history_;
};

/// One sequence of so many tokens, whose values are all subnormal. What a query sees of it alone
/// comes out as it is, however small: no rounding excuses a zero.
Cache subnormal_cache(Probe& probe, Rng& rng, std::int64_t tokens);

/// Attention frees what it allocates, for rows that see no token too.
void require_freed_when_asked(Probe& probe, Rng& rng, KvStored stored);

/// Calls that are refused for the last entry of long lists, attention and appends, free what they
/// allocated before.
void require_freed_when_refused(Probe& probe, Rng& rng);

/// Appends that are refused, to a pool and a table of some size, free what they allocate.
void require_freed_when_full(Probe& probe, Rng& rng);

/// Appends to a page that two sequences share free what they allocate, whoever copies it; and so do
/// reads of it.
void require_freed_when_copied(Probe& probe, Rng& rng);

/// Two threads append to sequences that share a page, half of the list each: the one whose page has
/// to be copied comes behind one that appends thousands, the one that may write there, from an
/// earlier slot on, is the first of its half. Who copies when it comes to it copies too late.
void require_copied_in_time(Probe& probe, Rng& rng);

/// The state of a cache that has one sequence of `tokens`, without a model of it: for long ones.
State filled_state(Probe& probe, const Setup& setup, const Tokens& tokens);

/// What attention held, in bytes, is no more than the contract grants.
void require_small_scratch(Probe& probe, std::int64_t held, const State& state,
                           const Problem& problem);

/// Of one sequence, whose keys are single numbers, all of it asked.
struct Alone {
  KvStored stored;
  std::int64_t tokens;
  std::int64_t queries;
  std::int64_t q_heads;
  std::int64_t value_dim = 1;
  bool by_one_thread = true;  // and by two
};

/// Of so many keys that 4 bytes for each are more than the contract grants.
constexpr Alone many_keys(KvStored stored) {
  return {stored, 1'650'000, 1, 1};
}

/// Of so many keys and rows that a result of each row for every 256 keys is more than that.
inline constexpr Alone kManyParts{KV_F32, 6400, 20, 16, 256, false};

/// Attention to it holds no more memory than the contract grants, and is right.
void require_small_scratch(Probe& probe, Rng& rng, const Alone& alone);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
