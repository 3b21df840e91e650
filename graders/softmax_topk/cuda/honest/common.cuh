// SPDX-License-Identifier: Apache-2.0
// What every variant refuses, and the formulas of the contract for one thread.
#pragma once

#include <cmath>
#include <cstdint>

#include "contract.h"

namespace {

/// SOFTMAX_TOPK_OK for a call that makes sense.
int64_t refusal(const SoftmaxTopkArgs& a) {
  if (a.abi_version != SOFTMAX_TOPK_ABI_VERSION || a.device != SOFTMAX_TOPK_CUDA ||
      a.data_type != SOFTMAX_TOPK_F32)
    return SOFTMAX_TOPK_UNSUPPORTED;
  const bool sizes = a.rows >= 0 && a.vocab >= 1 && a.k >= 1 && a.k <= a.vocab &&
                     a.row_stride >= a.vocab && a.num_threads >= 1;
  const bool scale = a.scale > 0 && std::isfinite(a.scale);
  const bool arrays = a.rows <= 0 || (a.logits && a.indices && a.probs);
  return sizes && scale && arrays ? SOFTMAX_TOPK_OK : SOFTMAX_TOPK_BAD_ARGUMENT;
}

__device__ const float* row_of(const SoftmaxTopkArgs& args, int64_t row) {
  return static_cast<const float*>(args.logits) + row * args.row_stride;
}
__device__ int64_t length_of(const SoftmaxTopkArgs& args, int64_t row) {
  return args.valid_len ? args.valid_len[row] : args.vocab;
}

/// Value and index of an entry as one number, the larger of which comes first; 0 is no entry.
using Key = unsigned long long;

__device__ Key key_of(float z, int64_t index) {
  if (isnan(z)) z = -INFINITY;
  if (z == 0) z = 0;  // of either sign
  const uint32_t bits = __float_as_uint(z);
  return Key{bits >> 31 ? ~bits : bits | 0x80000000u} << 32 | (~static_cast<uint32_t>(index));
}
__device__ int32_t index_of(Key key) {
  return static_cast<int32_t>(~static_cast<uint32_t>(key));
}
__device__ float logit_of(Key key) {
  const auto order = static_cast<uint32_t>(key >> 32);
  return __uint_as_float(order >> 31 ? order & 0x7fffffffu : ~order);
}

/// Winners [first, first + columns) of all rows are the business of one launch. The ones before
/// were written by earlier launches; the last of them bounds those that are left.
struct Window {
  int64_t first;
  int columns;
};
[[maybe_unused]] __device__ Key bound_of(const SoftmaxTopkArgs& args, int64_t row,
                                         const Window& window) {
  if (window.first == 0) return ~Key{0};
  const int32_t last = args.indices[row * args.k + window.first - 1];
  return last < 0 ? 0 : key_of(row_of(args, row)[last], last);
}

/// scale * (z - max), rounded once. As a float the difference may overflow where the scale is tiny,
/// and a difference of products loses what they share where it is huge.
__device__ float below(float z, float max, float scale) {
  return static_cast<float>(double{scale} * (double{z} - double{max}));
}

/// A running maximum of the logits, and the sum of exp(scale * (z - max)).
struct Softmax {
  float max = -INFINITY;
  double sum = 0;

  __device__ void add(float z, float scale) {
    if (z == -INFINITY) return;
    move_to(z > max ? z : max, scale);
    sum += expf(below(z, max, scale));
  }

  __device__ void merge(const Softmax& other, float scale) {
    if (other.max == -INFINITY) return;
    move_to(other.max > max ? other.max : max, scale);
    sum += other.sum * expf(below(other.max, max, scale));
  }

  __device__ float probability_of(float z, float scale) const {
    return max == -INFINITY ? 0.0f : static_cast<float>(expf(below(z, max, scale)) / sum);
  }

  __device__ void write_totals(const SoftmaxTopkArgs& args, int64_t row) const {
    const double scaled = double{args.scale} * max;
    const bool empty = max == -INFINITY;
    if (args.lse) args.lse[row] = empty ? max : static_cast<float>(scaled + log(sum));
    if (args.row_max) args.row_max[row] = static_cast<float>(scaled);
  }

 private:
  __device__ void move_to(float higher, float scale) {
    if (higher == max) return;
    sum *= max == -INFINITY ? 0.0f : expf(below(max, higher, scale));
    max = higher;
  }
};

__device__ void write_winner(const SoftmaxTopkArgs& args, int64_t row, int64_t column, Key key,
                             const Softmax& softmax) {
  const int64_t at = row * args.k + column;
  args.indices[at] = key == 0 ? -1 : index_of(key);
  args.probs[at] = key == 0 ? 0.0f : softmax.probability_of(logit_of(key), args.scale);
}

/// What all lanes of a warp saw, added up in an order that is always the same.
__device__ Softmax merged_in_warp(const Softmax& mine, float scale) {
  Softmax all = mine;
  for (int lanes = 16; lanes > 0; lanes /= 2)
    all.max = fmaxf(all.max, __shfl_xor_sync(~0u, all.max, lanes));
  if (mine.max != -INFINITY) all.sum *= expf(below(mine.max, all.max, scale));
  for (int lanes = 16; lanes > 0; lanes /= 2) all.sum += __shfl_xor_sync(~0u, all.sum, lanes);
  return all;
}

}  // namespace
