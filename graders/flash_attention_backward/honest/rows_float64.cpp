// strategy: one query row at a time, all sums in float64, one thread a kv head
// uses: results may be nearer to the formulas than float32 sums are
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

double delta_of(const Args& a, int64_t b, int64_t h, int64_t i) {
  double sum = a.dlse ? -(double)a.dlse[(b * a.q_heads + h) * a.q_len + i] : 0;
  for (int64_t c = 0; c < a.value_dim; ++c)
    sum += (double)dout_row(a, b, h, i)[c] * o_row(a, b, h, i)[c];
  return sum;
}

double dot(const float* x, const float* y, int64_t n) {
  double sum = 0;
  for (int64_t c = 0; c < n; ++c) sum += (double)x[c] * y[c];
  return sum;
}

struct Sums {
  std::vector<double> dq, dk, dv;  // dk and dv of all keys of one kv head
};

void add_query(const Args& a, int64_t b, int64_t h, int64_t i, int64_t g, double delta,
               Sums& sums) {
  const double lse = a.lse[(b * a.q_heads + h) * a.q_len + i];
  if (std::isinf(lse)) return;
  const float* q = q_row(a, b, h, i);
  const float* dout = dout_row(a, b, h, i);
  const Keys keys = visible_keys(a, b, i);
  for (int64_t j = keys.first; j < keys.last; ++j) {
    double score = (double)a.scale * dot(q, k_row(a, b, g, j), a.head_dim);
    double slope = 1;
    if (a.softcap > 0) {
      const double t = std::tanh(score / a.softcap);
      score = a.softcap * t;
      slope = 1 - t * t;
    }
    const double p = std::exp(score - lse);
    const double dx = a.scale * p * (dot(dout, v_row(a, b, g, j), a.value_dim) - delta) * slope;
    for (int64_t c = 0; c < a.value_dim; ++c) sums.dv[j * a.value_dim + c] += p * dout[c];
    for (int64_t c = 0; c < a.head_dim; ++c) {
      sums.dk[j * a.head_dim + c] += dx * q[c];
      sums.dq[c] += dx * k_row(a, b, g, j)[c];
    }
  }
}

void do_head(const Args& a, int64_t b, int64_t g) {
  const int64_t group = a.q_heads / a.kv_heads;
  Sums sums;
  sums.dk.assign(a.k_len * a.head_dim, 0);
  sums.dv.assign(a.k_len * a.value_dim, 0);
  for (int64_t h = g * group; h < (g + 1) * group; ++h)
    for (int64_t i = 0; i < a.q_len; ++i) {
      sums.dq.assign(a.head_dim, 0);
      const double delta = delta_of(a, b, h, i);
      add_query(a, b, h, i, g, delta, sums);
      if (a.dq) std::copy(sums.dq.begin(), sums.dq.end(), dq_row(a, b, h, i));
      if (a.delta) a.delta[(b * a.q_heads + h) * a.q_len + i] = (float)delta;
    }
  for (int64_t j = 0; j < a.k_len; ++j) {
    if (a.dk) std::copy_n(sums.dk.begin() + j * a.head_dim, a.head_dim, dk_row(a, b, g, j));
    if (a.dv) std::copy_n(sums.dv.begin() + j * a.value_dim, a.value_dim, dv_row(a, b, g, j));
  }
}

}  // namespace

extern "C" int64_t flash_attention_backward(const FlashAttentionBackwardArgs* args) {
  const Args& a = *args;
  if (const int64_t error = refusal(a)) return error;
#pragma omp parallel for num_threads(a.num_threads)
  for (int64_t n = 0; n < a.batch * a.kv_heads; ++n) do_head(a, n / a.kv_heads, n % a.kv_heads);
  return FLASH_ATTENTION_OK;
}
