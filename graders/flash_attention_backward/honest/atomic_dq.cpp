// strategy: a task a key, dq added with atomics in any order; in key order by one task a head when
// bits matter
// uses: without `deterministic` the bits of dq may change from call to call, as sums may be taken
// in any order
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

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
      float slope = 1;
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
  for (float& sum : dk) sum *= a.scale;
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
#pragma omp for
    for (int64_t n = 0; n < queries; ++n) {
      const int64_t b = n / a.q_len / a.q_heads, h = n / a.q_len % a.q_heads, i = n % a.q_len;
      for (int64_t c = 0; a.dq && c < a.head_dim; ++c) dq_row(a, b, h, i)[c] *= a.scale;
    }
  }
  return FLASH_ATTENTION_OK;
}
