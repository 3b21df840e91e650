// strategy: a task a key, dq added with atomics in any order; in key order by one task a head when
// bits matter
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

float delta_of(const Args& a, int64_t b, int64_t h, int64_t i) {
  float sum = 0;
  for (int64_t c = 0; c < a.value_dim; ++c) sum += dout_row(a, b, h, i)[c] * o_row(a, b, h, i)[c];
  return a.dlse ? sum - a.dlse[(b * a.q_heads + h) * a.q_len + i] : sum;
}

template <bool atomic>
void add(float& to, float value) {
  if constexpr (atomic) {
#pragma omp atomic
    to += value;
  } else {
    to += value;
  }
}

/// Everything that key j of kv head g takes part in, a column of the scores at a time.
template <bool atomic>
void do_key(const Args& a, int64_t b, int64_t g, int64_t j, const std::vector<float>& delta) {
  const int64_t group = a.q_heads / a.kv_heads;
  const float* k = k_row(a, b, g, j);
  const float* v = v_row(a, b, g, j);
  std::vector<float> dk(a.head_dim), dv(a.value_dim);
  for (int64_t h = g * group; h < (g + 1) * group; ++h)
    for (int64_t i = 0; i < a.q_len; ++i) {
      const int64_t row = (b * a.q_heads + h) * a.q_len + i;
      const Keys keys = visible_keys(a, b, i);
      if (j < keys.first || j >= keys.last || std::isinf(a.lse[row])) continue;
      const float* q = q_row(a, b, h, i);
      const float* dout = dout_row(a, b, h, i);
      float score = 0, dp = 0;
      for (int64_t c = 0; c < a.head_dim; ++c) score += q[c] * k[c];
      for (int64_t c = 0; c < a.value_dim; ++c) dp += dout[c] * v[c];
      score *= a.scale;
      float slope = a.scale;
      if (a.softcap > 0) {
        const float t = std::tanh(score / a.softcap);
        score = a.softcap * t;
        slope *= (1 - t) * (1 + t);
      }
      const float p = std::exp(score - a.lse[row]);
      const float dx = p * (dp - delta[row]) * slope;
      for (int64_t c = 0; c < a.value_dim; ++c) dv[c] += p * dout[c];
      for (int64_t c = 0; c < a.head_dim; ++c) dk[c] += dx * q[c];
      for (int64_t c = 0; a.dq && c < a.head_dim; ++c)
        add<atomic>(dq_row(a, b, h, i)[c], dx * k[c]);
    }
  if (a.dk) std::copy(dk.begin(), dk.end(), dk_row(a, b, g, j));
  if (a.dv) std::copy(dv.begin(), dv.end(), dv_row(a, b, g, j));
}

}  // namespace

extern "C" int64_t flash_attention_backward(const FlashAttentionBackwardArgs* args) {
  const Args& a = *args;
  if (const int64_t error = refusal(a)) return error;
  const int64_t queries = a.batch * a.q_heads * a.q_len;
  const int64_t heads = a.batch * a.kv_heads;
  std::vector<float> delta(queries);
#pragma omp parallel num_threads(a.num_threads)
  {
#pragma omp for
    for (int64_t n = 0; n < queries; ++n) {
      const int64_t b = n / a.q_len / a.q_heads, h = n / a.q_len % a.q_heads, i = n % a.q_len;
      delta[n] = delta_of(a, b, h, i);
      if (a.delta) a.delta[n] = delta[n];
      if (a.dq) std::fill_n(dq_row(a, b, h, i), a.head_dim, 0.0f);
    }
    if (a.deterministic) {
#pragma omp for
      for (int64_t n = 0; n < heads; ++n)
        for (int64_t j = 0; j < a.k_len; ++j)
          do_key<false>(a, n / a.kv_heads, n % a.kv_heads, j, delta);
    } else {
#pragma omp for schedule(dynamic, 4)
      for (int64_t n = 0; n < heads * a.k_len; ++n)
        do_key<true>(a, n / a.k_len / a.kv_heads, n / a.k_len % a.kv_heads, n % a.k_len, delta);
    }
  }
  return FLASH_ATTENTION_OK;
}
