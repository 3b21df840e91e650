// SPDX-License-Identifier: Apache-2.0
#pragma once

// The target's choice after a row of logits. A vector maximum over blocks remembers the block; the
// index is looked up in that block alone.
#include <algorithm>
#include <cstdint>
#include <cstring>
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

/// The same with a row cut into one piece a thread.
inline std::int32_t choice_by_many(const float* logits, std::int64_t vocab, int threads) {
  const std::int64_t piece = (vocab / threads + kBlock) / kBlock * kBlock;
  std::vector<Peak> peaks(static_cast<std::size_t>(threads), Peak{logits[0], 0});
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int k = 0; k < threads; ++k)
    if (k * piece < vocab)
      peaks[static_cast<std::size_t>(k)] =
          peak_of(logits, k * piece, std::min(vocab, (k + 1) * piece));
  Peak best = peaks[0];
  for (const Peak& peak : peaks)
    if (peak.value > best.value) best = peak;
  return index_of(logits, best);
}
