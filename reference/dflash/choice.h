// SPDX-License-Identifier: Apache-2.0
#pragma once

// The target's choice after a row of logits. A vector maximum over blocks remembers the block; the
// index is looked up in that block alone.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <omp.h>
#include <thread>
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

struct Peak {
  float value;
  std::int64_t block;  // where the block begins
};

/// The first block of [from, to) that holds the largest logit.
inline Peak peak_of(const float* logits, std::int64_t from, std::int64_t to) {
  Peak peak{logits[from], from};
  for (std::int64_t at = from; at < to; at += kBlock) {
    const float value = largest(logits + at, std::min(kBlock, to - at));
    if (value > peak.value) peak = {value, at};
  }
  return peak;
}

inline std::int32_t index_of(const float* logits, const Peak& peak) {
  std::int64_t i = peak.block;
  while (logits[i] != peak.value) ++i;
  return static_cast<std::int32_t>(i);
}

inline std::int32_t choice(const float* logits, std::int64_t vocab) {
  return index_of(logits, peak_of(logits, 0, vocab));
}

/// The same with every row cut into one piece a thread. The threads live as long as `work` runs, and
/// look for the next row awake: to put them to sleep and to wake them takes longer than a row, and
/// how long they would stay awake by themselves is up to the settings of OpenMP.
class RowTeam {
 public:
  RowTeam(std::int64_t vocab, int threads)
      : vocab_(vocab), threads_(threads), peaks_(static_cast<std::size_t>(threads)) {}

  /// Calls `work` on one thread, with a function that chooses after a row of logits.
  template <class Work>
  void run(const Work& work) {
#pragma omp parallel num_threads(threads_)
    {
#pragma omp single
      present_ = omp_get_num_threads();
      if (omp_get_thread_num() == 0) {
        work([this](const float* logits) { return choose(logits); });
        give(nullptr);
      } else {
        help(omp_get_thread_num());
      }
    }
  }

 private:
  struct alignas(64) Slot {
    Peak peak;
    std::atomic<std::int64_t> row{0};  // number of the last one that it has looked at
  };

  static void wait_for(const std::atomic<std::int64_t>& number, std::int64_t value) {
    for (int turn = 0; number.load(std::memory_order_acquire) < value; ++turn)
      if (turn > 4000) std::this_thread::yield();  // somebody else may need the processor
  }

  void give(const float* logits) {
    logits_ = logits;
    row_.fetch_add(1, std::memory_order_release);
  }

  void look_at(int k) {
    const std::int64_t piece = (vocab_ / present_ + kBlock) / kBlock * kBlock;
    const std::int64_t from = std::min(vocab_ - 1, k * piece);
    peaks_[static_cast<std::size_t>(k)].peak =
        peak_of(logits_, from, std::max(from + 1, std::min(vocab_, (k + 1) * piece)));
  }

  void help(int k) {
    std::atomic<std::int64_t>& done = peaks_[static_cast<std::size_t>(k)].row;
    for (std::int64_t row = 1;; ++row) {
      wait_for(row_, row);
      if (logits_ == nullptr) return;
      look_at(k);
      done.store(row, std::memory_order_release);
    }
  }

  std::int32_t choose(const float* logits) {
    give(logits);
    look_at(0);
    const std::int64_t row = row_.load(std::memory_order_relaxed);
    Peak best = peaks_[0].peak;
    for (int k = 1; k < present_; ++k) {
      const Slot& slot = peaks_[static_cast<std::size_t>(k)];
      wait_for(slot.row, row);
      if (slot.peak.value > best.value) best = slot.peak;
    }
    return index_of(logits, best);
  }

  std::int64_t vocab_;
  int threads_;
  int present_ = 1;
  const float* logits_ = nullptr;
  std::atomic<std::int64_t> row_{0};
  std::vector<Slot> peaks_;
};
