// Flash attention backward, the way the paper writes it down: blocks of keys outside, queries
// inside. Weights are recomputed from q, k and lse; dk and dv of a block collect while its
// queries pass, dq collects in place. Threads take kv heads.
#include <algorithm>
#include <cmath>
#include <cstdint>
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

constexpr int64_t kTileKeys = 64;

float dot(const float* x, const float* y, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t c = 0; c < n; ++c) sum += x[c] * y[c];
  return sum;
}

void add_scaled(float* to, float factor, const float* from, int64_t n) {
#pragma omp simd
  for (int64_t c = 0; c < n; ++c) to[c] += factor * from[c];
}

/// One query head and the kv head that it reads.
struct Heads {
  int64_t batch, query, key;
};

int64_t statistics_row(const Args& a, const Heads& heads, int64_t i) {
  return (heads.batch * a.q_heads + heads.query) * a.q_len + i;
}

float delta_of(const Args& a, const Heads& heads, int64_t i) {
  const float product = dot(dout_row(a, heads.batch, heads.query, i),
                            o_row(a, heads.batch, heads.query, i), a.value_dim);
  return a.dlse ? product - a.dlse[statistics_row(a, heads, i)] : product;
}

/// A pair of a query and a key that it sees: its weight, and the gradient of scale * q.k. scale is
/// left to the finished sums: times the gradient it may leave the range of float.
struct Pair {
  float weight, gradient;
};

Pair pair_of(const Args& a, const Heads& heads, int64_t i, int64_t j, float lse, float delta) {
  float score = a.scale * dot(q_row(a, heads.batch, heads.query, i),
                              k_row(a, heads.batch, heads.key, j), a.head_dim);
  float slope = 1;
  if (a.softcap > 0) {
    const float t = std::tanh(score / a.softcap);
    score = a.softcap * t;
    slope *= 1 - t * t;
  }
  const float weight = std::exp(score - lse);
  const float d_weight = dot(dout_row(a, heads.batch, heads.query, i),
                             v_row(a, heads.batch, heads.key, j), a.value_dim);
  return {weight, weight * (d_weight - delta) * slope};
}

/// dk and dv of one block of keys while its queries pass.
struct Block {
  int64_t first, last;
  std::vector<float> dk, dv;
};

void add_query(const Args& a, const Heads& heads, int64_t i, float delta, Block& block) {
  const float lse = a.lse[statistics_row(a, heads, i)];
  if (std::isinf(lse)) return;  // sees no key at all
  const Keys keys = visible_keys(a, heads.batch, i);
  const int64_t last = std::min(keys.last, block.last);
  for (int64_t j = std::max(keys.first, block.first); j < last; ++j) {
    const Pair pair = pair_of(a, heads, i, j, lse, delta);
    add_scaled(&block.dv[(j - block.first) * a.value_dim], pair.weight,
               dout_row(a, heads.batch, heads.query, i), a.value_dim);
    add_scaled(&block.dk[(j - block.first) * a.head_dim], pair.gradient,
               q_row(a, heads.batch, heads.query, i), a.head_dim);
    if (a.dq)
      add_scaled(dq_row(a, heads.batch, heads.query, i), pair.gradient,
                 k_row(a, heads.batch, heads.key, j), a.head_dim);
  }
}

void scale_row(const Args& a, float* row) {
  for (int64_t c = 0; c < a.head_dim; ++c) row[c] *= a.scale;
}

void write_block(const Args& a, int64_t b, int64_t g, const Block& block) {
  for (int64_t j = block.first; j < block.last; ++j) {
    if (a.dk) {
      std::copy_n(&block.dk[(j - block.first) * a.head_dim], a.head_dim, dk_row(a, b, g, j));
      scale_row(a, dk_row(a, b, g, j));
    }
    if (a.dv)
      std::copy_n(&block.dv[(j - block.first) * a.value_dim], a.value_dim, dv_row(a, b, g, j));
  }
}

/// All that the query heads of one kv head need, in the order of blocks, heads and tiles.
void do_kv_head(const Args& a, int64_t b, int64_t g) {
  const int64_t group = a.q_heads / a.kv_heads;
  std::vector<float> delta(group * a.q_len);
  for (int64_t n = 0; n < group * a.q_len; ++n) {
    const Heads heads{b, g * group + n / a.q_len, g};
    const int64_t i = n % a.q_len;
    delta[n] = delta_of(a, heads, i);
    if (a.delta) a.delta[statistics_row(a, heads, i)] = delta[n];
    if (a.dq) std::fill_n(dq_row(a, b, heads.query, i), a.head_dim, 0.0f);
  }
  for (int64_t first = 0; first < a.k_len; first += kTileKeys) {
    const int64_t last = std::min(first + kTileKeys, a.k_len);
    Block block{first, last, std::vector<float>(kTileKeys * a.head_dim),
                std::vector<float>(kTileKeys * a.value_dim)};
    for (int64_t n = 0; n < group * a.q_len; ++n)
      add_query(a, {b, g * group + n / a.q_len, g}, n % a.q_len, delta[n], block);
    write_block(a, b, g, block);
  }
  for (int64_t n = 0; a.dq && n < group * a.q_len; ++n)
    scale_row(a, dq_row(a, b, g * group + n / a.q_len, n % a.q_len));
}

}  // namespace

extern "C" int64_t flash_attention_backward(const FlashAttentionBackwardArgs* args) {
  const Args& a = *args;
  if (const int64_t error = refusal(a)) return error;
#pragma omp parallel for num_threads(a.num_threads) schedule(dynamic)
  for (int64_t n = 0; n < a.batch * a.kv_heads; ++n) do_kv_head(a, n / a.kv_heads, n % a.kv_heads);
  return FLASH_ATTENTION_OK;
}
