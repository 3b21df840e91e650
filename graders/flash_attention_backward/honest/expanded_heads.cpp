// strategy: query heads apart, four at a time, each with dk and dv of its own that are added to those
// of the group; rows of weights, branch-free masks
// uses: sums may be taken in any order, so that results differ within ACCURACY; scratch memory is
// the solution's own
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

constexpr int64_t kAtOnce = 4;  // heads whose sums are held at a time

struct HeadSums {
  std::vector<float> dk, dv;
};

/// All keys of one query at once: a row of weights in memory, keys outside of the mask with weight
/// 0.
struct Row {
  std::vector<float> p, dx;
};

void weigh(const Args& a, int64_t b, int64_t h, int64_t g, int64_t i, float delta, Keys all,
           Row& row) {
  const float lse = a.lse[(b * a.q_heads + h) * a.q_len + i];
  const Keys seen = visible_keys(a, b, i);
  for (int64_t j = all.first; j < all.last; ++j) {
    float score = 0, dp = 0;
    for (int64_t c = 0; c < a.head_dim; ++c) score += q_row(a, b, h, i)[c] * k_row(a, b, g, j)[c];
    for (int64_t c = 0; c < a.value_dim; ++c) dp += dout_row(a, b, h, i)[c] * v_row(a, b, g, j)[c];
    score *= a.scale;
    float slope = 1;
    if (a.softcap > 0) {
      const float t = std::tanh(score / a.softcap);
      score = a.softcap * t;
      slope *= 1 - t * t;
    }
    const bool visible = j >= seen.first && j < seen.last && lse > -INFINITY;
    row.p[j] = visible ? std::exp(score - lse) : 0.0f;
    row.dx[j] = visible ? row.p[j] * (dp - delta) * slope : 0.0f;
  }
}

void do_head(const Args& a, int64_t b, int64_t h, HeadSums& sums) {
  const int64_t g = h / (a.q_heads / a.kv_heads);
  const Keys all = existing_keys(a, b);
  Row row{std::vector<float>(a.k_len), std::vector<float>(a.k_len)};
  sums.dk.assign(a.k_len * a.head_dim, 0);
  sums.dv.assign(a.k_len * a.value_dim, 0);
  for (int64_t i = 0; i < a.q_len; ++i) {
    double delta = a.dlse ? -a.dlse[(b * a.q_heads + h) * a.q_len + i] : 0.0;
    for (int64_t c = 0; c < a.value_dim; ++c)
      delta += (double)dout_row(a, b, h, i)[c] * o_row(a, b, h, i)[c];
    if (a.delta) a.delta[(b * a.q_heads + h) * a.q_len + i] = (float)delta;
    weigh(a, b, h, g, i, (float)delta, all, row);
    std::vector<float> dq(a.head_dim);
    for (int64_t j = all.first; j < all.last; ++j) {
      for (int64_t c = 0; c < a.head_dim; ++c) {
        dq[c] += row.dx[j] * k_row(a, b, g, j)[c];
        sums.dk[j * a.head_dim + c] += row.dx[j] * q_row(a, b, h, i)[c];
      }
      for (int64_t c = 0; c < a.value_dim; ++c)
        sums.dv[j * a.value_dim + c] += row.p[j] * dout_row(a, b, h, i)[c];
    }
    for (int64_t c = 0; a.dq && c < a.head_dim; ++c) dq_row(a, b, h, i)[c] = a.scale * dq[c];
  }
}

void clear_results(const Args& a, int64_t b) {
  for (int64_t g = 0; g < a.kv_heads; ++g)
    for (int64_t j = 0; j < a.k_len; ++j) {
      if (a.dk) std::fill_n(dk_row(a, b, g, j), a.head_dim, 0.0f);
      if (a.dv) std::fill_n(dv_row(a, b, g, j), a.value_dim, 0.0f);
    }
}

/// What a head says of key j, added to dk and dv of its group.
void collect(const Args& a, int64_t b, int64_t h, int64_t j, const HeadSums& sums) {
  const int64_t g = h / (a.q_heads / a.kv_heads);
  for (int64_t c = 0; a.dk && c < a.head_dim; ++c)
    dk_row(a, b, g, j)[c] += a.scale * sums.dk[j * a.head_dim + c];
  for (int64_t c = 0; a.dv && c < a.value_dim; ++c)
    dv_row(a, b, g, j)[c] += sums.dv[j * a.value_dim + c];
}

}  // namespace

extern "C" int64_t flash_attention_backward(const FlashAttentionBackwardArgs* args) {
  const Args& a = *args;
  if (const int64_t error = refusal(a)) return error;
  std::vector<HeadSums> heads(kAtOnce);
  for (int64_t b = 0; b < a.batch; ++b) {
    clear_results(a, b);
    for (int64_t first = 0; first < a.q_heads; first += kAtOnce) {
      const int64_t last = std::min(a.q_heads, first + kAtOnce);
#pragma omp parallel for num_threads(a.num_threads) schedule(dynamic)
      for (int64_t h = first; h < last; ++h) do_head(a, b, h, heads[h - first]);
#pragma omp parallel for num_threads(a.num_threads)
      for (int64_t j = 0; j < a.k_len; ++j)
        for (int64_t h = first; h < last; ++h) collect(a, b, h, j, heads[h - first]);
    }
  }
  return FLASH_ATTENTION_OK;
}
