// SPDX-License-Identifier: Apache-2.0
#pragma once

// Causal attention of one head, queries in blocks.
#include <cmath>

#include "activations.h"
#include "product.h"

namespace ternary {

inline constexpr std::int64_t kQueryBlock = 8 * kTileRows;

/// What one thread needs for a head.
struct AttentionScratch {
  AttentionScratch(std::int64_t length, std::int64_t size)
      : k_columns(size, length), weights(kQueryBlock, length) {}
  Table k_columns;  // transposed
  Table weights;    // [query of the block][key]
};

/// And on the way back.
struct AttentionGradients {
  AttentionGradients(std::int64_t length, std::int64_t size)
      : v_columns(size, length),
        scores(kQueryBlock, length),
        dq(length, size),
        dk(length, size),
        dv(length, size),
        d_out(length, size) {}
  Table v_columns;  // transposed
  Table scores;     // [query of the block][key]
  Table dq, dk, dv, d_out;
};

inline void transpose(const Rows& from, std::int64_t rows, std::int64_t columns, const Rows& to) {
  for (std::int64_t i = 0; i < rows; i += 16)
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t r = i; r < std::min(i + 16, rows); ++r) to[c][r] = from[r][c];
}

/// Scores of queries first .. first + count - 1 with the keys up to the last of them; keys later
/// than a query have -infinity.
inline void score_block(HeadState& head, AttentionScratch& scratch, std::int64_t first,
                        std::int64_t count, std::int64_t size) {
  const std::int64_t keys = first + count;
  product<false>(left_of(head.q.rows().from(first)), right_of(scratch.k_columns.rows()),
                 scratch.weights.rows(), count, keys, size);
  for (std::int64_t i = 0; i < count; ++i)
    std::fill(scratch.weights[i] + first + i + 1, scratch.weights[i] + padded(keys), -HUGE_VALF);
}

/// Queries begin .. end - 1 attend to all keys up to their own.
inline void attend(HeadState& head, AttentionScratch& scratch, std::int64_t begin, std::int64_t end,
                   std::int64_t size) {
  transpose(head.k.rows(), end, size, scratch.k_columns.rows());
  for (std::int64_t first = begin; first < end; first += kQueryBlock) {
    const std::int64_t count = std::min(kQueryBlock, end - first);
    const std::int64_t keys = first + count;
    score_block(head, scratch, first, count, size);
    for (std::int64_t i = 0; i < count; ++i) {
      float* row = scratch.weights[i];
      Vec largest = load(row);
      for (std::int64_t j = kLanes; j < keys; j += kLanes) {
        const Vec next = load(row + j);
        largest = largest > next ? largest : next;
      }
      const float top = largest_of(largest);
      Vec sums{};
      for (std::int64_t j = 0; j < keys; j += kLanes) {
        const Vec weight = exp_of(load(row + j) - top);
        sums += weight;
        store(row + j, weight);
      }
      const float sum = sum_of(sums);
      for (std::int64_t j = 0; j < keys; j += kLanes) store(row + j, load(row + j) * (1 / sum));
      head.log_sum[first + i] = top + std::log(sum);
    }
    product<false>(left_of(scratch.weights.rows()), right_of(head.v.rows()),
                   head.out.rows().from(first), count, size, keys);
  }
}

/// From work.d_out to work.dq, dk and dv, for a whole window.
inline void attend_backward(HeadState& head, AttentionScratch& scratch, AttentionGradients& work,
                            std::int64_t length, std::int64_t size) {
  transpose(head.k.rows(), length, size, scratch.k_columns.rows());
  transpose(head.v.rows(), length, size, work.v_columns.rows());
  work.dk.clear();
  work.dv.clear();
  for (std::int64_t first = 0; first < length; first += kQueryBlock) {
    const std::int64_t count = std::min(kQueryBlock, length - first);
    const std::int64_t keys = first + count;
    const Rows d_out = work.d_out.rows().from(first);
    score_block(head, scratch, first, count, size);
    product<false>(left_of(d_out), right_of(work.v_columns.rows()), work.scores.rows(), count, keys,
                   size);
    for (std::int64_t i = 0; i < count; ++i) {
      Vec dots{};
      for (std::int64_t d = 0; d < size; d += kLanes)
        dots += load(d_out[i] + d) * load(head.out[first + i] + d);
      const float dot = sum_of(dots);
      float* weights = scratch.weights[i];
      float* scores = work.scores[i];
      for (std::int64_t j = 0; j < keys; j += kLanes) {
        const Vec weight = exp_of(load(weights + j) - head.log_sum[first + i]);
        store(weights + j, weight);
        store(scores + j, weight * (load(scores + j) - dot));
      }
    }
    product<true>(transposed(scratch.weights.rows()), right_of(d_out), work.dv.rows(), keys, size,
                  count);
    product<true>(transposed(work.scores.rows()), right_of(head.q.rows().from(first)),
                  work.dk.rows(), keys, size, count);
    product<false>(left_of(work.scores.rows()), right_of(head.k.rows()), work.dq.rows().from(first),
                   count, size, keys);
  }
}

/// A head's part of a row of `width` numbers, rotated by the angle of its position and scaled.
inline void rotate(const Angles& angles, std::int64_t position, const float* from, float scale,
                   float* to) {
  const std::int64_t half = angles.pairs;
  const float* cosine = angles.cosine.data() + position * half;
  const float* sine = angles.sine.data() + position * half;
  for (std::int64_t i = 0; i < half; ++i) {
    to[i] = scale * (from[i] * cosine[i] - from[i + half] * sine[i]);
    to[i + half] = scale * (from[i + half] * cosine[i] + from[i] * sine[i]);
  }
}

/// The transposed of `rotate`.
inline void rotate_back(const Angles& angles, std::int64_t position, const float* from, float scale,
                        float* to) {
  const std::int64_t half = angles.pairs;
  const float* cosine = angles.cosine.data() + position * half;
  const float* sine = angles.sine.data() + position * half;
  for (std::int64_t i = 0; i < half; ++i) {
    to[i] = scale * (from[i] * cosine[i] + from[i + half] * sine[i]);
    to[i + half] = scale * (from[i + half] * cosine[i] - from[i] * sine[i]);
  }
}

}  // namespace ternary
