// strategy: one fused kernel, blocks of keys outside, tiles of queries inside, dq collected in
// place
// uses: sums may be taken in any order, so that results differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

constexpr int64_t kTileQueries = 48;
constexpr int64_t kTileKeys = 32;

struct Tile {
  int64_t i0, i1, j0, j1;
};

/// P and dx of one tile; scale is left to the finished sums.
struct Weights {
  float p[kTileQueries][kTileKeys];
  float dx[kTileQueries][kTileKeys];
};

float dot(const float* x, const float* y, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t c = 0; c < n; ++c) sum += x[c] * y[c];
  return sum;
}

void add_scaled(float* to, float factor, const float* from, int64_t n) {
  for (int64_t c = 0; c < n; ++c) to[c] += factor * from[c];
}

float delta_of(const Args& a, int64_t b, int64_t h, int64_t i) {
  const float sum = dot(dout_row(a, b, h, i), o_row(a, b, h, i), a.value_dim);
  return a.dlse ? sum - a.dlse[(b * a.q_heads + h) * a.q_len + i] : sum;
}

void weigh(const Args& a, int64_t b, int64_t h, int64_t g, const Tile& tile, const float* delta,
           Weights& w) {
  for (int64_t i = tile.i0; i < tile.i1; ++i) {
    const float lse = a.lse[(b * a.q_heads + h) * a.q_len + i];
    const Keys keys = visible_keys(a, b, i);
    for (int64_t j = tile.j0; j < tile.j1; ++j) {
      float& p = w.p[i - tile.i0][j - tile.j0];
      float& dx = w.dx[i - tile.i0][j - tile.j0];
      p = dx = 0;
      if (j < keys.first || j >= keys.last || std::isinf(lse)) continue;
      float score = a.scale * dot(q_row(a, b, h, i), k_row(a, b, g, j), a.head_dim);
      float slope = 1;
      if (a.softcap > 0) {
        const float t = std::tanh(score / a.softcap);
        score = a.softcap * t;
        slope *= 1 - t * t;
      }
      p = std::exp(score - lse);
      const float dp = dot(dout_row(a, b, h, i), v_row(a, b, g, j), a.value_dim);
      dx = p * (dp - delta[i]) * slope;
    }
  }
}

bool nothing_visible(const Args& a, int64_t b, const Tile& tile) {
  for (int64_t i = tile.i0; i < tile.i1; ++i) {
    const Keys keys = visible_keys(a, b, i);
    if (keys.first < tile.j1 && keys.last > tile.j0) return false;
  }
  return true;
}

void do_tile(const Args& a, int64_t b, int64_t h, int64_t g, const Tile& tile, const float* delta,
             std::vector<float>& dk, std::vector<float>& dv) {
  Weights w;
  weigh(a, b, h, g, tile, delta, w);
  for (int64_t i = tile.i0; i < tile.i1; ++i)
    for (int64_t j = tile.j0; j < tile.j1; ++j) {
      const float p = w.p[i - tile.i0][j - tile.j0];
      const float dx = w.dx[i - tile.i0][j - tile.j0];
      if (p == 0) continue;
      add_scaled(&dv[(j - tile.j0) * a.value_dim], p, dout_row(a, b, h, i), a.value_dim);
      add_scaled(&dk[(j - tile.j0) * a.head_dim], dx, q_row(a, b, h, i), a.head_dim);
      if (a.dq) add_scaled(dq_row(a, b, h, i), dx, k_row(a, b, g, j), a.head_dim);
    }
}

void scale_all(float* numbers, float factor, int64_t n) {
  for (int64_t c = 0; c < n; ++c) numbers[c] *= factor;
}

void do_block(const Args& a, int64_t b, int64_t g, int64_t j0, int64_t j1,
              const std::vector<float>& delta) {
  const int64_t group = a.q_heads / a.kv_heads;
  std::vector<float> dk(kTileKeys * a.head_dim), dv(kTileKeys * a.value_dim);
  for (int64_t h = g * group; h < (g + 1) * group; ++h)
    for (int64_t i0 = 0; i0 < a.q_len; i0 += kTileQueries) {
      const Tile tile{i0, std::min(i0 + kTileQueries, a.q_len), j0, j1};
      if (nothing_visible(a, b, tile)) continue;
      do_tile(a, b, h, g, tile, &delta[(h - g * group) * a.q_len], dk, dv);
    }
  scale_all(dk.data(), a.scale, kTileKeys * a.head_dim);
  for (int64_t j = j0; j < j1; ++j) {
    if (a.dk) std::copy_n(&dk[(j - j0) * a.head_dim], a.head_dim, dk_row(a, b, g, j));
    if (a.dv) std::copy_n(&dv[(j - j0) * a.value_dim], a.value_dim, dv_row(a, b, g, j));
  }
}

void do_head(const Args& a, int64_t b, int64_t g) {
  const int64_t group = a.q_heads / a.kv_heads;
  std::vector<float> delta(group * a.q_len);
  for (int64_t n = 0; n < group * a.q_len; ++n) {
    const int64_t h = g * group + n / a.q_len, i = n % a.q_len;
    delta[n] = delta_of(a, b, h, i);
    if (a.delta) a.delta[(b * a.q_heads + h) * a.q_len + i] = delta[n];
    if (a.dq) std::fill_n(dq_row(a, b, h, i), a.head_dim, 0.0f);
  }
  for (int64_t j0 = 0; j0 < a.k_len; j0 += kTileKeys)
    do_block(a, b, g, j0, std::min(j0 + kTileKeys, a.k_len), delta);
  for (int64_t n = 0; a.dq && n < group * a.q_len; ++n)
    scale_all(dq_row(a, b, g * group + n / a.q_len, n % a.q_len), a.scale, a.head_dim);
}

}  // namespace

extern "C" int64_t flash_attention_backward(const FlashAttentionBackwardArgs* args) {
  const Args& a = *args;
  if (const int64_t error = refusal(a)) return error;
#pragma omp parallel for num_threads(a.num_threads)
  for (int64_t n = 0; n < a.batch * a.kv_heads; ++n) do_head(a, n / a.kv_heads, n % a.kv_heads);
  return FLASH_ATTENTION_OK;
}
