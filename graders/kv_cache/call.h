// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "harness/worker/call.h"
#include "model.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Calls hold what their buffers point to, but for the state, which must outlive the call; take()
// copies a mutating call's results into one.

/// Whether a call that only reads a cache changed it. Where the cache lies in memory that nobody
/// could write, it would have crashed instead.
bool wrote_the_cache(const CallBase& call);

class PageBytesCall : public Call<KvShape> {
 public:
  explicit PageBytesCall(const Setup& setup);
};

class AppendCall : public Call<KvAppendArgs> {
 public:
  AppendCall(const State& state, const std::vector<Chunk>& chunks);
  void take(State& state) const;

  /// The lists, to be spoilt where the call has to be refused.
  Ids& which() { return which_; }
  Ids& starts() { return starts_; }

 private:
  /// Makes parts of the pool, which lies last so far and in one piece.
  void spread_pool(const State& state);

  Ids which_;
  Ids starts_;
  Tokens tokens_;
};

class ForkCall : public Call<KvForkArgs> {
 public:
  ForkCall(const State& state, std::int64_t from, std::int64_t to);
  void take(State& state) const;
};

class TruncateCall : public Call<KvTruncateArgs> {
 public:
  TruncateCall(const State& state, std::int64_t sequence, std::int64_t length);
  void take(State& state) const;
};

class ReadCall : public Call<KvReadArgs> {
 public:
  ReadCall(const State& state, std::int64_t sequence, std::int64_t begin, std::int64_t tokens);
  Tokens tokens() const;

 private:
  std::optional<Output<float>> k_;
  std::optional<Output<float>> v_;
};

/// What attention or a merge wrote. Empty where it was not wanted.
struct Answer {
  std::vector<float> out;
  std::vector<float> lse;
};

/// The results of a call that writes `out` and `lse`.
template <class Args>
class AnsweredCall : public Call<Args> {
 public:
  using Call<Args>::Call;

  Answer answer() const {
    return {out_ ? out_->copy() : std::vector<float>(), lse_ ? lse_->copy() : std::vector<float>()};
  }

 protected:
  void add_results(std::int64_t rows, std::int64_t dim, bool want_lse, const CallOptions& options) {
    if (rows == 0) return;
    out_ = this->template out<float>("out", this->args.out, static_cast<std::size_t>(rows * dim),
                                     options.placed("out"));
    if (want_lse)
      lse_ = this->template out<float>("lse", this->args.lse, static_cast<std::size_t>(rows),
                                       options.placed("lse"));
  }

 private:
  std::optional<Output<float>> out_;
  std::optional<Output<float>> lse_;
};

/// The problem must outlive the call as well.
class AttendCall : public AnsweredCall<KvAttendArgs> {
 public:
  AttendCall(const State& state, const Problem& problem);

 private:
  Ids starts_;
};

class MergeCall : public AnsweredCall<KvMergeArgs> {
 public:
  explicit MergeCall(const Parts& parts, bool want_lse = true, const CallOptions& options = {});
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
