#pragma once

#include <string>

#include "asking.h"
#include "harness/grading/probe.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A solution's cache and a model of it. Every operation is done by the solution and checked
/// against the model: return value, bookkeeping, pages that must not change. Before each of them
/// what is not in use is littered. A fault ends the check, with the operations so far as evidence.
class Cache {
 public:
  /// What happens around every call besides.
  struct Habits {
    bool renumber = false;  // pages get other numbers before each call
    bool restart = false;   // each call meets a fresh process
  };

  Cache(Probe& probe, const Setup& setup, const Seed& litter, Habits habits);
  Cache(Probe& probe, const Setup& setup, const Seed& litter)
      : Cache(probe, setup, litter, Habits()) {}

  /// All chunks in one call. Where pages or the table do not suffice, it must be refused and is.
  /// Returns whether the tokens were appended.
  bool append(const std::vector<Chunk>& chunks);
  bool append(std::int64_t sequence, const Tokens& tokens) { return append({{sequence, tokens}}); }

  /// With wrong arguments, they must be refused and are.
  void fork(std::int64_t from, std::int64_t to);
  void truncate(std::int64_t sequence, std::int64_t length);
  void free(std::int64_t sequence) { truncate(sequence, 0); }

  /// What is stored, which must be as near to what was appended as the contract wants it.
  Tokens read(std::int64_t sequence, std::int64_t begin, std::int64_t tokens);
  Tokens read(std::int64_t sequence) { return read(sequence, 0, length(sequence)); }
  void require_contents();

  /// All that is in use is as it was: for calls that had to be refused.
  void require_untouched(const State& after) const;

  Answer attend(const Question& question);
  /// Attention over what is stored, against the oracle; returns it.
  Answer require_attention(const Question& question);
  /// The same with queries drawn, the last `queries` of each of `which`.
  void require_attention(Rng& rng, const Ids& which, std::int64_t queries, std::int64_t q_heads);
  void require_answer(const Question& question, const Answer& answer, const Expected& expected);

  /// What is stored, of the sequences that a question is about: what was appended as KV_F32, and
  /// what the solution says otherwise.
  std::vector<Tokens> stored_for(const Question& question);

  const Setup& setup() const { return state_.setup; }
  const State& state() const { return state_; }
  State& state() { return state_; }
  const std::vector<Tokens>& contents() const { return contents_; }
  std::int64_t length(std::int64_t sequence) const {
    return state_.lengths[static_cast<std::size_t>(sequence)];
  }
  std::int64_t free_pages() const;

  [[noreturn]] void fail(const std::string& summary) const;
  void require(const std::optional<Miss>& miss) const;
  /// The setup and every operation so far, for evidence.
  std::vector<std::string> steps() const;

 private:
  void prepare();
  void run(CallBase& call, std::int64_t want);
  void adopt(State after, const Ids& changed_pages);
  void require_books(const State& after) const;
  void require_lengths(const State& after, const Ids& want) const;
  void require_row_kept(const State& after, std::int64_t sequence, std::int64_t entries) const;
  void require_pages_kept(const State& after, const Ids& except) const;
  Ids require_growth(const State& after, const std::vector<Chunk>& chunks) const;
  bool fits(const std::vector<Chunk>& chunks) const;

  Probe* probe_;
  State state_;
  std::vector<Tokens> contents_;
  std::vector<Tokens> stored_;  // as far as it was asked for
  Rng rng_;
  Habits habits_;
  std::vector<std::string> history_;
};

/// Asks for the size of a page. Fails the check for an error, and for an answer that is more than
/// the contract grants or less than tokens need.
std::int64_t ask_page_bytes(Probe& probe, const Setup& setup);

/// Remembers the largest share of a tolerance that any case of the check used.
void note_share(Probe& probe, double share);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
