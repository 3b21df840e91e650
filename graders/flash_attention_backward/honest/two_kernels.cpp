// strategy: two kernels that both recompute the weights, dq by query and dk with dv by key, base-2
// exponentials
// uses: weights may be computed in base 2, so that results differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

constexpr float kLog2E = 1.44269504088896341f;

float dot(const float* x, const float* y, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t c = 0; c < n; ++c) sum += x[c] * y[c];
  return sum;
}

float delta_of(const Args& a, int64_t b, int64_t h, int64_t i) {
  const float sum = dot(dout_row(a, b, h, i), o_row(a, b, h, i), a.value_dim);
  return a.dlse ? sum - a.dlse[(b * a.q_heads + h) * a.q_len + i] : sum;
}

struct Pair {
  float p, dx;
};

/// P and dx of one query and one key that it sees; scale is left to the end.
Pair pair_of(const Args& a, int64_t b, int64_t h, int64_t g, int64_t i, int64_t j, float delta) {
  const float lse = a.lse[(b * a.q_heads + h) * a.q_len + i];
  if (std::isinf(lse)) return {0, 0};
  float score = dot(q_row(a, b, h, i), k_row(a, b, g, j), a.head_dim);
  float slope = 1;
  float p;
  if (a.softcap > 0) {
    const float t = std::tanh(score * a.scale / a.softcap);
    slope = 1 - t * t;
    p = std::exp2((a.softcap * t - lse) * kLog2E);
  } else {
    p = std::exp2((score * a.scale - lse) * kLog2E);
  }
  const float dp = dot(dout_row(a, b, h, i), v_row(a, b, g, j), a.value_dim);
  return {p, p * (dp - delta) * slope};
}

void do_query(const Args& a, int64_t b, int64_t h, int64_t i) {
  const int64_t g = h / (a.q_heads / a.kv_heads);
  const float delta = delta_of(a, b, h, i);
  if (a.delta) a.delta[(b * a.q_heads + h) * a.q_len + i] = delta;
  if (!a.dq) return;
  const Keys keys = visible_keys(a, b, i);
  std::vector<float> sum(a.head_dim);
  for (int64_t j = keys.last - 1; j >= keys.first; --j) {
    const Pair pair = pair_of(a, b, h, g, i, j, delta);
    for (int64_t c = 0; c < a.head_dim; ++c) sum[c] += pair.dx * k_row(a, b, g, j)[c];
  }
  for (int64_t c = 0; c < a.head_dim; ++c) dq_row(a, b, h, i)[c] = a.scale * sum[c];
}

void do_key(const Args& a, int64_t b, int64_t g, int64_t j) {
  const int64_t group = a.q_heads / a.kv_heads;
  std::vector<float> dk(a.head_dim), dv(a.value_dim);
  for (int64_t h = g * group; h < (g + 1) * group; ++h)
    for (int64_t i = 0; i < a.q_len; ++i) {
      const Keys keys = visible_keys(a, b, i);
      if (j < keys.first || j >= keys.last) continue;
      const Pair pair = pair_of(a, b, h, g, i, j, delta_of(a, b, h, i));
      for (int64_t c = 0; c < a.value_dim; ++c) dv[c] += pair.p * dout_row(a, b, h, i)[c];
      for (int64_t c = 0; c < a.head_dim; ++c) dk[c] += pair.dx * q_row(a, b, h, i)[c];
    }
  for (int64_t c = 0; a.dk && c < a.head_dim; ++c) dk_row(a, b, g, j)[c] = a.scale * dk[c];
  if (a.dv) std::copy(dv.begin(), dv.end(), dv_row(a, b, g, j));
}

}  // namespace

extern "C" int64_t flash_attention_backward(const FlashAttentionBackwardArgs* args) {
  const Args& a = *args;
  if (const int64_t error = refusal(a)) return error;
  const int64_t queries = a.batch * a.q_heads * a.q_len;
  const int64_t keys = a.batch * a.kv_heads * a.k_len;
#pragma omp parallel num_threads(a.num_threads)
  {
#pragma omp for schedule(dynamic, 8)
    for (int64_t n = 0; n < queries; ++n)
      do_query(a, n / a.q_len / a.q_heads, n / a.q_len % a.q_heads, n % a.q_len);
#pragma omp for schedule(dynamic, 8)
    for (int64_t n = 0; n < keys; ++n)
      do_key(a, n / a.k_len / a.kv_heads, n / a.k_len % a.kv_heads, n % a.k_len);
  }
  return FLASH_ATTENTION_OK;
}
