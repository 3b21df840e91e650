#pragma once

#include <optional>

#include "cases.h"
#include "harness/worker/call.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A cache as it lies between calls: all that a solution may know.
struct State {
  Setup setup;
  std::int64_t page_bytes = 0;
  Bytes pool;
  std::vector<std::int32_t> table;
  Ids lengths;
  std::vector<std::int32_t> refs;

  State(const Setup& setup, std::int64_t page_bytes);

  std::int64_t pages_of(std::int64_t tokens) const {
    return (tokens + setup.page_tokens - 1) / setup.page_tokens;
  }
  /// Table entries of a sequence that are in use.
  std::int64_t used(std::int64_t sequence) const {
    return pages_of(lengths[static_cast<std::size_t>(sequence)]);
  }
  std::int32_t& entry(std::int64_t sequence, std::int64_t at) {
    return table[static_cast<std::size_t>(sequence * setup.width + at)];
  }
  std::int32_t entry(std::int64_t sequence, std::int64_t at) const {
    return table[static_cast<std::size_t>(sequence * setup.width + at)];
  }
  std::span<std::uint8_t> page(std::int64_t number) {
    return {pool.data() + number * page_bytes, static_cast<std::size_t>(page_bytes)};
  }
  std::span<const std::uint8_t> page(std::int64_t number) const {
    return {pool.data() + number * page_bytes, static_cast<std::size_t>(page_bytes)};
  }

  /// Overwrites what is not in use: free pages with bytes that are NaN, infinity, large or random
  /// as floats, and table entries with wild and with plausible page numbers.
  void litter(Rng& rng);

  /// Gives every page another number.
  void renumber(Rng& rng);
};

/// New tokens of one sequence.
struct Chunk {
  std::int64_t sequence = 0;
  Tokens tokens;
};

/// Calls with their arrays. They hold what the buffers point to, but for the state, which must
/// outlive the call; take() copies a mutating call's results into it.
class AppendCall {
 public:
  AppendCall(const State& state, const std::vector<Chunk>& chunks);
  void take(State& state) const;
  Call<KvAppendArgs> call{"kv_append"};

 private:
  Ids which_;
  Ids starts_;
  Tokens tokens_;
};

/// What an attention call wrote.
struct Answer {
  std::vector<float> out;
  std::vector<float> lse;
};

class AttendCall {
 public:
  AttendCall(const State& state, const Question& question);
  Answer answer() const;
  Call<KvAttendArgs> call{"kv_attend"};

 private:
  Ids starts_;
  std::optional<Output<float>> out_;
  std::optional<Output<float>> lse_;
};

class ReadCall {
 public:
  ReadCall(const State& state, std::int64_t sequence, std::int64_t begin, std::int64_t tokens);
  Tokens tokens() const;
  Call<KvReadArgs> call{"kv_read"};

 private:
  std::optional<Output<float>> k_;
  std::optional<Output<float>> v_;
};

/// kv_fork and kv_truncate: the bookkeeping without the pool.
class ForkCall {
 public:
  ForkCall(const State& state, std::int64_t from, std::int64_t to);
  void take(State& state) const;
  Call<KvForkArgs> call{"kv_fork"};
};

class TruncateCall {
 public:
  TruncateCall(const State& state, std::int64_t sequence, std::int64_t length);
  void take(State& state) const;
  Call<KvTruncateArgs> call{"kv_truncate"};
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
