// strategy: query heads apart, each with dk and dv of its own that are summed over the group; rows
// of weights, branch-free masks
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
    float slope = a.scale;
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
    if (a.dq) std::copy(dq.begin(), dq.end(), dq_row(a, b, h, i));
  }
}

/// dk and dv of a kv head from its group, in the order of the heads.
void collect(const Args& a, int64_t b, int64_t g, const std::vector<HeadSums>& heads) {
  const int64_t group = a.q_heads / a.kv_heads;
  for (int64_t j = 0; j < a.k_len; ++j) {
    for (int64_t c = 0; a.dk && c < a.head_dim; ++c) {
      float sum = 0;
      for (int64_t h = g * group; h < (g + 1) * group; ++h) sum += heads[h].dk[j * a.head_dim + c];
      dk_row(a, b, g, j)[c] = sum;
    }
    for (int64_t c = 0; a.dv && c < a.value_dim; ++c) {
      float sum = 0;
      for (int64_t h = g * group; h < (g + 1) * group; ++h) sum += heads[h].dv[j * a.value_dim + c];
      dv_row(a, b, g, j)[c] = sum;
    }
  }
}

}  // namespace

extern "C" int64_t flash_attention_backward(const FlashAttentionBackwardArgs* args) {
  const Args& a = *args;
  if (const int64_t error = refusal(a)) return error;
  std::vector<HeadSums> heads(a.q_heads);
  for (int64_t b = 0; b < a.batch; ++b) {
#pragma omp parallel for num_threads(a.num_threads) schedule(dynamic)
    for (int64_t h = 0; h < a.q_heads; ++h) do_head(a, b, h, heads[h]);
#pragma omp parallel for num_threads(a.num_threads)
    for (int64_t g = 0; g < a.kv_heads; ++g) collect(a, b, g, heads);
  }
  return FLASH_ATTENTION_OK;
}
