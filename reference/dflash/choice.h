// SPDX-License-Identifier: Apache-2.0
#pragma once

// The target's choice after a row of logits. A vector maximum over blocks remembers the block; the
// index is looked up in that block alone.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <omp.h>
#include <vector>

typedef float Vector __attribute__((vector_size(64), aligned(4), may_alias));
constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kBlock = 4096;

/// By reference, as vectors of this size are passed differently with and without AVX-512.
inline void raise(Vector& best, const float* logits) {
  const Vector next = *reinterpret_cast<const Vector*>(logits);
  best = best > next ? best : next;
}

/// Largest of `count` logits, which are at least one.
inline float largest(const float* x, std::int64_t count) {
  float best = x[0];
  std::int64_t i = 0;
  if (count >= 4 * kLanes) {
    Vector peaks[4];
    std::memcpy(peaks, x, sizeof peaks);
    for (i = 4 * kLanes; i + 4 * kLanes <= count; i += 4 * kLanes)
      for (std::int64_t k = 0; k < 4; ++k) raise(peaks[k], x + i + k * kLanes);
    for (Vector& peak : peaks) raise(peaks[0], reinterpret_cast<const float*>(&peak));
    for (std::int64_t lane = 0; lane < kLanes; ++lane) best = std::max(best, peaks[0][lane]);
  }
  for (; i < count; ++i) best = std::max(best, x[i]);
  return best;
}

/// Where the largest of `count` logits, which is `value`, comes first.
inline std::int64_t index_of(float value, const float* x, std::int64_t count) {
  constexpr std::int64_t kLook = 4 * kLanes;
  std::int64_t i = 0;
  for (; i + kLook <= count; i += kLook) {
    int found = 0;  // all of them are compared, so that it takes vectors
    for (std::int64_t k = 0; k < kLook; ++k) found |= x[i + k] == value;
    if (found) break;
  }
  while (x[i] != value) ++i;
  return i;
}

struct Peak {
  float value;
  std::int64_t block;  // where the block begins
};

/// Takes in the block of logits from `at` on, or what is left of it before `to`.
inline void raise(Peak& peak, const float* logits, std::int64_t at, std::int64_t to) {
  const float value = largest(logits + at, std::min(kBlock, to - at));
  if (value > peak.value) peak = {value, at};
}

/// The first block of [from, to) that holds the largest logit.
inline Peak peak_of(const float* logits, std::int64_t from, std::int64_t to) {
  Peak peak{logits[from], from};
  for (std::int64_t at = from; at < to; at += kBlock) raise(peak, logits, at, to);
  return peak;
}

/// Where the peak of a row of `vocab` logits comes first.
inline std::int32_t index_of(const float* logits, std::int64_t vocab, const Peak& peak) {
  constexpr std::int64_t kLook = 4 * kLanes;
  std::int64_t i = peak.block;
  for (; i + kLook <= vocab; i += kLook) {
    int found = 0;  // all of them are compared, so that it takes vectors
    for (std::int64_t k = 0; k < kLook; ++k) found |= logits[i + k] == peak.value;
    if (found) break;
  }
  while (logits[i] != peak.value) ++i;
  return static_cast<std::int32_t>(i);
}

inline std::int32_t choice(const float* logits, std::int64_t vocab) {
  return index_of(logits, vocab, peak_of(logits, 0, vocab));
}

/// The same with every row cut into one piece a thread. The threads live as long as `work` runs and
/// look for the next row awake: to put them to sleep and to wake them takes longer than a row, and
/// how long they would stay awake by themselves is up to the settings of OpenMP. The thread that
/// runs `work` waits for none: while another has not done its piece, it does that piece itself. Who
/// waits for a thread whose processor another program has got loses the time of a hundred rows.
class RowTeam {
 public:
  RowTeam(std::int64_t vocab, int threads)
      : vocab_(vocab),
        piece_((vocab / threads + kBlock) / kBlock * kBlock),
        threads_(static_cast<int>((vocab + piece_ - 1) / piece_)),
        slots_(static_cast<std::size_t>(threads_)) {}

  /// Calls `work` on one thread, with a function that chooses after a row of logits.
  template <class Work>
  void run(const Work& work) {
#pragma omp parallel num_threads(threads_)
    if (omp_get_thread_num() == 0) {
      work([this](const float* logits) { return choose(logits); });
      row_ = kNoMore;
    } else {
      help(omp_get_thread_num());
    }
  }

 private:
  /// A thread's piece of a row. Rows are named by their numbers.
  struct alignas(64) Slot {
    std::atomic<std::int64_t> taken{0};  // the last row of which somebody does the piece
    std::atomic<std::int64_t> done{0};   // the last row of which `peak` is
    Peak peak;
  };

  static constexpr std::int64_t kNoMore = -1;
  static constexpr int kTurns = 100'000;  // that a thread looks for the next row

  std::int64_t begin_of(int k) const {
    return k * piece_;
  }
  std::int64_t end_of(int k) const {
    return std::min(vocab_, (k + 1) * piece_);
  }

  void help(int k) {
    Slot& slot = slots_[static_cast<std::size_t>(k)];
    for (int turn = 0; turn < kTurns; ++turn) {
      const std::int64_t row = row_;
      if (row == kNoMore) return;
      if (slot.taken == row || slot.taken.exchange(row) == row) continue;
      // Who comes late may find the next row's logits here. Nobody asks for the older row then.
      slot.peak = peak_of(logits_, begin_of(k), end_of(k));
      slot.done = row;
      turn = 0;
    }
  }

  std::int32_t choose(const float* logits) {
    logits_ = logits;
    ++row_;
    Peak best = peak_of(logits, 0, end_of(0));
    for (int k = 1; k < threads_; ++k) {
      const Peak peak = peak_of_piece(k);
      if (peak.value > best.value) best = peak;
    }
    return index_of(logits, vocab_, best);
  }

  Peak peak_of_piece(int k) {
    Slot& slot = slots_[static_cast<std::size_t>(k)];
    const bool begun = slot.taken.exchange(row_) == row_;
    Peak peak{logits_[begin_of(k)], begin_of(k)};
    for (std::int64_t at = begin_of(k); at < end_of(k); at += kBlock) {
      if (begun && slot.done == row_) return slot.peak;
      raise(peak, logits_, at, end_of(k));
    }
    return peak;
  }

  std::int64_t vocab_;
  std::int64_t piece_;
  int threads_;
  std::vector<Slot> slots_;
  std::atomic<const float*> logits_{nullptr};
  std::atomic<std::int64_t> row_{0};
};
