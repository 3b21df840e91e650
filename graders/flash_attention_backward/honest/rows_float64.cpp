// strategy: one query row at a time, all sums in float64, one thread a kv head
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
