// SPDX-License-Identifier: Apache-2.0
// What all variants share: who sees whom, where rows lie, what is refused. Nothing here has
// external linkage: a self test is loaded beside a variant, and may have names like these.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <vector>

#include "contract.h"

namespace {

using Args = FlashAttentionBackwardArgs;

struct Keys {
  int64_t first, last;
};

Keys existing_keys(const Args& a, int64_t b) {
  const int64_t start = a.kv_start ? a.kv_start[b] : 0;
  return {start, a.kv_len ? start + a.kv_len[b] : a.k_len};
}

Keys visible_keys(const Args& a, int64_t b, int64_t i) {
  Keys keys = existing_keys(a, b);
  const int64_t place = i + keys.last - a.q_len;
  if (a.causal) keys.last = std::min(keys.last, place + 1);
  if (a.window_right >= 0) keys.last = std::min(keys.last, place + a.window_right + 1);
  if (a.window_left >= 0) keys.first = std::max(keys.first, place - a.window_left);
  return {keys.first, std::max(keys.first, keys.last)};
}

const float* q_row(const Args& a, int64_t b, int64_t h, int64_t i) {
  return (const float*)a.q + b * a.q_batch_stride + h * a.q_head_stride + i * a.q_row_stride;
}
const float* k_row(const Args& a, int64_t b, int64_t h, int64_t j) {
  return (const float*)a.k + b * a.k_batch_stride + h * a.k_head_stride + j * a.k_row_stride;
}
const float* v_row(const Args& a, int64_t b, int64_t h, int64_t j) {
  return (const float*)a.v + b * a.v_batch_stride + h * a.v_head_stride + j * a.v_row_stride;
}
const float* o_row(const Args& a, int64_t b, int64_t h, int64_t i) {
  return (const float*)a.o + b * a.o_batch_stride + h * a.o_head_stride + i * a.o_row_stride;
}
const float* dout_row(const Args& a, int64_t b, int64_t h, int64_t i) {
  return (const float*)a.dout + b * a.dout_batch_stride + h * a.dout_head_stride +
         i * a.dout_row_stride;
}
float* dq_row(const Args& a, int64_t b, int64_t h, int64_t i) {
  return (float*)a.dq + b * a.dq_batch_stride + h * a.dq_head_stride + i * a.dq_row_stride;
}
float* dk_row(const Args& a, int64_t b, int64_t h, int64_t j) {
  return (float*)a.dk + b * a.dk_batch_stride + h * a.dk_head_stride + j * a.dk_row_stride;
}
float* dv_row(const Args& a, int64_t b, int64_t h, int64_t j) {
  return (float*)a.dv + b * a.dv_batch_stride + h * a.dv_head_stride + j * a.dv_row_stride;
}

int64_t refusal(const Args& a) {
  if (a.abi_version != FLASH_ATTENTION_ABI_VERSION || a.device != FLASH_ATTENTION_HOST ||
      a.data_type != FLASH_ATTENTION_F32)
    return FLASH_ATTENTION_UNSUPPORTED;
  const int64_t strides[] = {
      a.q_batch_stride,    a.q_head_stride,    a.q_row_stride,    a.k_batch_stride,
      a.k_head_stride,     a.k_row_stride,     a.v_batch_stride,  a.v_head_stride,
      a.v_row_stride,      a.o_batch_stride,   a.o_head_stride,   a.o_row_stride,
      a.dout_batch_stride, a.dout_head_stride, a.dout_row_stride, a.dq_batch_stride,
      a.dq_head_stride,    a.dq_row_stride,    a.dk_batch_stride, a.dk_head_stride,
      a.dk_row_stride,     a.dv_batch_stride,  a.dv_head_stride,  a.dv_row_stride};
  bool good = *std::min_element(std::begin(strides), std::end(strides)) >= 0;
  good = good && a.batch >= 0 && a.q_heads >= 0 && a.kv_heads >= 0 && a.q_len >= 0 && a.k_len >= 0;
  good = good && a.head_dim >= 1 && a.head_dim <= 256 && a.value_dim >= 1 && a.value_dim <= 256;
  good = good && (a.kv_heads == 0 ? a.q_heads == 0 : a.q_heads % a.kv_heads == 0);
  good = good && a.num_threads >= 1 && a.window_left >= -1 && a.window_right >= -1;
  good = good && std::isfinite(a.scale) && std::isfinite(a.softcap) && a.softcap >= 0;
  if (!good) return FLASH_ATTENTION_BAD_ARGUMENT;
  if (a.batch * a.q_heads * a.q_len > 0 && (!a.q || !a.o || !a.dout || !a.lse))
    return FLASH_ATTENTION_BAD_ARGUMENT;
  if (a.batch * a.kv_heads * a.k_len > 0 && (!a.k || !a.v)) return FLASH_ATTENTION_BAD_ARGUMENT;
  for (int64_t b = 0; b < a.batch; ++b) {
    const Keys keys = existing_keys(a, b);
    if (keys.first < 0 || keys.last < keys.first || keys.last > a.k_len)
      return FLASH_ATTENTION_BAD_ARGUMENT;
  }
  return FLASH_ATTENTION_OK;
}

}  // namespace
