// SPDX-License-Identifier: Apache-2.0
// What all variants share: who sees whom, where rows lie, what is refused, how work is divided.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "contract.h"

using Args = FlashAttentionForwardArgs;

struct Range {
  std::int64_t first, last;
};

inline Range existing_keys(const Args& a, std::int64_t batch) {
  const std::int64_t start = a.kv_start != nullptr ? a.kv_start[batch] : 0;
  return {start, start + (a.kv_len != nullptr ? a.kv_len[batch] : a.k_len - start)};
}

inline Range visible_keys(const Args& a, std::int64_t batch, std::int64_t query) {
  Range keys = existing_keys(a, batch);
  const std::int64_t position = query + keys.last - a.q_len;
  if (a.causal != 0) keys.last = std::min(keys.last, position + 1);
  if (a.window_right >= 0) keys.last = std::min(keys.last, position + a.window_right + 1);
  if (a.window_left >= 0) keys.first = std::max(keys.first, position - a.window_left);
  return keys;
}

/// The rows of one query head.
struct Head {
  Head(const Args& a, std::int64_t batch_entry, std::int64_t head) : batch(batch_entry) {
    const std::int64_t group = head / (a.q_heads / a.kv_heads);
    q = static_cast<const float*>(a.q) + batch * a.q_batch_stride + head * a.q_head_stride;
    k = static_cast<const float*>(a.k) + batch * a.k_batch_stride + group * a.k_head_stride;
    v = static_cast<const float*>(a.v) + batch * a.v_batch_stride + group * a.v_head_stride;
    o = static_cast<float*>(a.o) + batch * a.o_batch_stride + head * a.o_head_stride;
    if (a.lse != nullptr) lse = a.lse + (batch * a.q_heads + head) * a.q_len;
  }
  std::int64_t batch;
  const float *q, *k, *v;
  float* o;
  float* lse = nullptr;
};

inline bool bad(const Args& a) {
  const std::int64_t not_negative[] = {
      a.batch,          a.q_heads,        a.kv_heads,      a.q_len,          a.k_len,
      a.q_batch_stride, a.q_head_stride,  a.q_row_stride,  a.k_batch_stride, a.k_head_stride,
      a.k_row_stride,   a.v_batch_stride, a.v_head_stride, a.v_row_stride,   a.o_batch_stride,
      a.o_head_stride,  a.o_row_stride};
  for (const std::int64_t number : not_negative)
    if (number < 0) return true;
  if (a.head_dim < 1 || a.value_dim < 1 || a.num_threads < 1) return true;
  if (a.q_heads > 0 && (a.kv_heads < 1 || a.q_heads % a.kv_heads != 0)) return true;
  if (a.window_left < -1 || a.window_right < -1) return true;
  if (!std::isfinite(a.scale) || !std::isfinite(a.softcap) || a.softcap < 0) return true;
  const bool writes = a.batch * a.q_heads * a.q_len > 0;
  if (writes && (a.q == nullptr || a.o == nullptr)) return true;
  if (writes && a.k_len > 0 && (a.k == nullptr || a.v == nullptr)) return true;
  for (std::int64_t b = 0; b < a.batch; ++b) {
    const Range keys = existing_keys(a, b);
    if (keys.first < 0 || keys.last < keys.first || keys.last > a.k_len) return true;
  }
  return false;
}

/// 0 for a call to answer, else what it has to return.
inline std::int64_t refusal(const Args& a) {
  if (a.abi_version != FLASH_ATTENTION_ABI_VERSION || a.device != FLASH_ATTENTION_HOST ||
      a.data_type != FLASH_ATTENTION_F32)
    return FLASH_ATTENTION_UNSUPPORTED;
  return bad(a) ? FLASH_ATTENTION_BAD_ARGUMENT : FLASH_ATTENTION_OK;
}

template <class Work>
void in_parallel(const Args& a, std::int64_t items, const Work& work) {
  std::atomic<std::int64_t> next{0};
  const auto run = [&] {
    for (std::int64_t item; (item = next++) < items;) work(item);
  };
  std::vector<std::thread> helpers;
  for (std::int64_t n = 1; n < std::min<std::int64_t>(a.num_threads, items); ++n)
    helpers.emplace_back(run);
  run();
  for (std::thread& helper : helpers) helper.join();
}

inline float dot(const float* a, const float* b, std::int64_t dim) {
  float sums[16] = {};
  std::int64_t d = 0;
  for (; d + 16 <= dim; d += 16)
    for (int lane = 0; lane < 16; ++lane) sums[lane] += a[d + lane] * b[d + lane];
  float sum = 0;
  for (; d < dim; ++d) sum += a[d] * b[d];
  for (const float part : sums) sum += part;
  return sum;
}

inline float score_of(const Args& a, const float* q, const float* k) {
  const float score = a.scale * dot(q, k, a.head_dim);
  return a.softcap > 0 ? a.softcap * std::tanh(score / a.softcap) : score;
}

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
