// strategy: the best of each row, by the maxima of its blocks of 512 tokens and nth_element, on
// threads, merged; two buffers of tokens, swapped
// uses: rows of a request may stand in any order, here the last one first; up to num_threads
// threads may be used
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "common.h"

namespace {

using Index = std::int64_t;

constexpr Index kBlock = 512;  // tokens

/// One step's beams of the whole batch, as arrays: beam k of item b at b * K + k.
struct Front {
  std::vector<std::int32_t> tokens;  // [batch * beam][max_new]
  std::vector<double> sum;
  std::vector<double> score;
  std::vector<Index> length;
  std::vector<char> finished;
  std::vector<std::uint64_t> state;
  std::vector<Index> used;  // by item

  Front(Index batch, Index beam, Index max_new)
      : tokens(batch * beam * max_new),
        sum(batch * beam),
        score(batch * beam),
        length(batch * beam),
        finished(batch * beam),
        state(batch * beam),
        used(batch) {}

  void copy(Index to, const Front& other, Index from, Index max_new) {
    std::copy_n(other.tokens.begin() + from * max_new, other.length[from],
                tokens.begin() + to * max_new);
    sum[to] = other.sum[from];
    score[to] = other.score[from];
    length[to] = other.length[from];
    finished[to] = other.finished[from];
    state[to] = other.state[from];
  }
};

struct Pick {
  double key;
  double sum;
  Index beam;
  std::int32_t token;
};

bool earlier(const Pick& x, const Pick& y) {
  if (x.key != y.key) return x.key > y.key;
  return x.beam != y.beam ? x.beam < y.beam : x.token < y.token;
}

class Batch {
 public:
  explicit Batch(const BeamArgs& args)
      : a(args),
        now(a.batch, a.beam, a.max_new),
        next(a.batch, a.beam, a.max_new),
        ended(a.batch, a.beam + 1, a.max_new),
        steps(a.batch),
        done(a.batch) {}

  std::int64_t run();

 private:
  double lp(Index n) const {
    const auto x = static_cast<double>(n);
    if (a.penalty == BEAM_PENALTY_GNMT) return std::pow((x + 5) / 6, a.alpha);
    return a.penalty == BEAM_PENALTY_LENGTH ? std::pow(x, a.alpha) : 1;
  }
  bool ends(std::int32_t token) const { return std::count(a.eos, a.eos + a.eos_count, token) > 0; }
  bool pooled() const { return a.policy == BEAM_POOLED; }

  std::vector<float> maxima_of_row(const float* row, bool may_end) const;
  void best_of_row(const float* row, Index beam_at, Index t, std::vector<Pick>& out) const;
  void advance(Index b, Index t);
  void finish(Index b, const Front& from, Index at, const Pick* by, Index t);
  void put(Index b, Index to, const Pick& pick, Index t);
  bool stops(Index b, Index t) const;
  void report(Index b) const;

  const BeamArgs& a;
  Front now, next, ended;
  std::vector<Index> steps;
  std::vector<char> done;
  std::vector<std::vector<Pick>> picks;  // by row of the batch
  std::vector<Index> first_row;          // by item
};

/// The best that may come of each block of a row.
std::vector<float> Batch::maxima_of_row(const float* row, bool may_end) const {
  std::vector<float> maxima;
  for (Index first = 0; first < a.vocab; first += kBlock)
    maxima.push_back(*std::max_element(row + first, row + std::min(first + kBlock, a.vocab)));
  for (Index i = 0; i < a.eos_count && !may_end; ++i) {
    const Index block = a.eos[i] / kBlock;
    float best = -HUGE_VALF;
    for (Index token = block * kBlock; token < std::min((block + 1) * kBlock, a.vocab); ++token)
      if (!ends(static_cast<std::int32_t>(token))) best = std::max(best, row[token]);
    maxima[block] = best;
  }
  return maxima;
}

/// The n-th largest: where these are maxima, at least n numbers reach it.
float nth_largest(std::vector<float> maxima, Index n) {
  if (static_cast<Index>(maxima.size()) < n) return -HUGE_VALF;
  std::nth_element(maxima.begin(), maxima.begin() + n - 1, maxima.end(), std::greater<>());
  return maxima[n - 1];
}

void Batch::best_of_row(const float* row, Index beam_at, Index t, std::vector<Pick>& out) const {
  const Index wanted = a.beam * (pooled() ? 1 : 1 + a.eos_count);
  const double divisor = pooled() ? lp(t) : 1;
  const bool may_end = t > a.min_new;
  // Sums and scores may be equal where the log-probs are not: all that is equal has to be met.
  const auto key_of = [&](float value) {
    return (now.sum[beam_at] + static_cast<double>(value)) / divisor;
  };
  const std::vector<float> maxima = maxima_of_row(row, may_end);
  const double least = key_of(nth_largest(maxima, wanted));
  std::vector<std::int32_t> tokens;
  for (Index first = 0; first < a.vocab; first += kBlock) {
    if (key_of(maxima[first / kBlock]) < least) continue;
    for (auto token = static_cast<std::int32_t>(first); token < std::min(first + kBlock, a.vocab);
         ++token)
      if (key_of(row[token]) >= least && row[token] != -HUGE_VALF && (may_end || !ends(token)))
        tokens.push_back(token);
  }
  const auto higher = [&](std::int32_t x, std::int32_t y) {
    const double key_x = key_of(row[x]);
    const double key_y = key_of(row[y]);
    return key_x != key_y ? key_x > key_y : x < y;
  };
  if (static_cast<Index>(tokens.size()) > wanted) {
    std::nth_element(tokens.begin(), tokens.begin() + wanted, tokens.end(), higher);
    tokens.resize(wanted);
  }
  for (const std::int32_t token : tokens) {
    const double sum = now.sum[beam_at] + static_cast<double>(row[token]);
    out.push_back({sum / divisor, sum, beam_at % a.beam, token});
  }
}

void Batch::put(Index b, Index to, const Pick& pick, Index t) {
  const Index from = b * a.beam + pick.beam;
  next.copy(to, now, from, a.max_new);
  if (pick.token < 0) return;
  next.tokens[to * a.max_new + t - 1] = pick.token;
  next.length[to] = t;
  next.sum[to] = pick.sum;
  next.score[to] = pick.sum / lp(t);
  next.finished[to] = ends(pick.token);
}

/// Adds beam `at` of `from` to the list of ended ones, extended by a pick or as it is.
void Batch::finish(Index b, const Front& from, Index at, const Pick* by, Index t) {
  const Index first = b * (a.beam + 1);
  const double score = by ? by->sum / lp(t) : from.score[at];
  Index place = ended.used[b];
  for (; place > 0 && score > ended.score[first + place - 1]; --place)
    ended.copy(first + place, ended, first + place - 1, a.max_new);
  ended.copy(first + place, from, at, a.max_new);
  ended.score[first + place] = score;
  if (by) {
    ended.tokens[(first + place) * a.max_new + t - 1] = by->token;
    ended.length[first + place] = t;
    ended.sum[first + place] = by->sum;
    ended.finished[first + place] = 1;
  }
  ended.used[b] = std::min(ended.used[b] + 1, a.beam);
}

bool Batch::stops(Index b, Index t) const {
  if (ended.used[b] < a.beam) return false;
  if (a.stop == BEAM_STOP_FULL) return true;
  const double worst = ended.score[b * (a.beam + 1) + a.beam - 1];
  const bool far = a.stop == BEAM_STOP_BOUND && a.alpha > 0;
  return worst >= next.sum[b * a.beam] / lp(far ? a.max_new : t);
}

void Batch::advance(Index b, Index t) {
  steps[b] = t;
  const Index first = b * a.beam;
  std::vector<Pick> all;
  Index row = first_row[b];
  for (Index k = 0; k < now.used[b]; ++k) {
    if (now.finished[first + k])
      all.push_back({now.score[first + k], now.sum[first + k], k, -1});
    else
      all.insert(all.end(), picks[row].begin(), picks[row].end()), ++row;
  }
  std::sort(all.begin(), all.end(), earlier);
  Index used = 0;
  for (Index rank = 0; rank < static_cast<Index>(all.size()) && used < a.beam; ++rank) {
    const Pick& pick = all[rank];
    if (pooled() || !ends(pick.token))
      put(b, first + used++, pick, t);
    else if (rank < a.beam)
      finish(b, now, first + pick.beam, &pick, t);
  }
  next.used[b] = used;
  if (pooled()) {
    done[b] = 1;
    for (Index k = 0; k < used; ++k) done[b] = done[b] && next.finished[first + k];
    return;
  }
  if (t == a.max_new)
    for (Index k = 0; k < used; ++k) finish(b, next, first + k, nullptr, t);
  done[b] = used == 0 || stops(b, t);
}

std::int64_t Batch::run() {
  std::vector<float> answers;
  for (Index b = 0; b < a.batch; ++b) {
    now.used[b] = 1;
    now.state[b * a.beam] = a.root_states[b];
  }
  for (Index t = 1; t <= a.max_new; ++t) {
    std::vector<Index> open;  // places of the open beams
    first_row.assign(a.batch, 0);
    for (Index b = 0; b < a.batch; ++b) {
      first_row[b] = static_cast<Index>(open.size());
      for (Index k = 0; k < now.used[b] && !done[b]; ++k)
        if (!now.finished[b * a.beam + k]) open.push_back(b * a.beam + k);
    }
    if (open.empty()) break;
    const float* rows = a.root_log_probs;
    const auto count = static_cast<Index>(open.size());
    if (t > 1) {
      std::vector<std::uint64_t> states(count), new_states(count);
      std::vector<std::int32_t> tokens(count);
      answers.resize(count * a.vocab);
      for (Index i = 0; i < count; ++i) {  // the last one first: any order will do
        const Index from = open[count - 1 - i];
        states[i] = now.state[from];
        tokens[i] = now.tokens[from * a.max_new + t - 2];
      }
      BeamStep step{count, states.data(), tokens.data(), new_states.data(), answers.data()};
      if (const std::int64_t status = a.step(a.model, &step); status != 0) return status;
      for (Index i = 0; i < count; ++i) now.state[open[count - 1 - i]] = new_states[i];
    }
    picks.assign(count, {});
    std::atomic<Index> taken = 0;
    const auto work = [&] {
      for (Index i; (i = taken++) < count;)
        best_of_row(t > 1 ? answers.data() + (count - 1 - i) * a.vocab : rows + i * a.vocab,
                    open[i], t, picks[i]);
    };
    std::vector<std::thread> threads;
    if (count * a.vocab > 100'000)  // one for a row at most
      for (Index i = 1; i < std::min<Index>(a.num_threads, count); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    for (Index b = 0; b < a.batch; ++b) {
      if (done[b]) {
        for (Index k = 0; k < now.used[b]; ++k)
          next.copy(b * a.beam + k, now, b * a.beam + k, a.max_new);
        next.used[b] = now.used[b];
      } else {
        advance(b, t);
      }
    }
    std::swap(now, next);
  }
  for (Index b = 0; b < a.batch; ++b) report(b);
  return BEAM_OK;
}

void Batch::report(Index b) const {
  const bool from_now = pooled() || a.max_new == 0;
  const Front& list = from_now ? now : ended;
  const Index first = from_now ? b * a.beam : b * (a.beam + 1);
  a.hypotheses[b] = static_cast<std::int32_t>(std::min(list.used[b], a.n_return));
  if (a.steps) a.steps[b] = static_cast<std::int32_t>(steps[b]);
  for (Index i = 0; i < a.n_return; ++i) {
    const Index slot = b * a.n_return + i;
    const bool there = i < list.used[b];
    const Index length = there ? list.length[first + i] : 0;
    a.lengths[slot] = static_cast<std::int32_t>(length);
    a.finished[slot] = there && list.finished[first + i];
    a.log_probs[slot] = there ? list.sum[first + i] : -HUGE_VAL;
    a.scores[slot] = there ? list.score[first + i] : -HUGE_VAL;
    for (Index at = 0; at < a.max_new; ++at)
      a.tokens[slot * a.max_new + at] =
          at < length ? list.tokens[(first + i) * a.max_new + at] : a.pad;
  }
}

}  // namespace

extern "C" int64_t beam_search(const BeamArgs* args) {
  if (args->abi_version != BEAM_ABI_VERSION || args->device != BEAM_HOST) return BEAM_UNSUPPORTED;
  if (!sizes_ok(*args) || !kinds_ok(*args)) return BEAM_BAD_ARGUMENT;
  if (!eos_ok(*args) || (args->batch > 0 && !arrays_ok(*args))) return BEAM_BAD_ARGUMENT;
  return Batch(*args).run();
}
