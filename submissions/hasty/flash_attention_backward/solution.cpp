// Flash attention backward. Tiled over keys, one thread per query head.
#include <cmath>
#include <cstdint>
#include <vector>

#include "contract.h"

static float dot(const float* x, const float* y, int64_t n) {
  float sum = 0;
  for (int64_t c = 0; c < n; ++c) sum += x[c] * y[c];
  return sum;
}

extern "C" int64_t flash_attention_backward(const FlashAttentionBackwardArgs* a) {
  if (!a->q || !a->k || !a->v || !a->o || !a->dout || !a->lse) return FLASH_ATTENTION_BAD_ARGUMENT;
  constexpr int64_t tile = 256;
  const int64_t group = a->q_heads / a->kv_heads;
  const float* q0 = (const float*)a->q;
  const float* k0 = (const float*)a->k;
  const float* v0 = (const float*)a->v;
  const float* dout0 = (const float*)a->dout;
  float* dq0 = (float*)a->dq;
  float* dk0 = (float*)a->dk;
  float* dv0 = (float*)a->dv;

#pragma omp parallel for num_threads(a->num_threads)
  for (int64_t n = 0; n < a->batch * a->kv_heads; ++n) {
    const int64_t b = n / a->kv_heads;
    const int64_t g = n % a->kv_heads;
    const int64_t start = a->kv_start ? a->kv_start[b] : 0;
    const int64_t end = a->kv_len ? start + a->kv_len[b] : a->k_len;
    const int64_t shift = end - a->q_len;
    for (int64_t j = 0; j < a->k_len; ++j) {
      float* dk = dk0 + b * a->dk_batch_stride + g * a->dk_head_stride + j * a->dk_row_stride;
      float* dv = dv0 + b * a->dv_batch_stride + g * a->dv_head_stride + j * a->dv_row_stride;
      for (int64_t c = 0; c < a->head_dim; ++c) dk[c] = 0;
      for (int64_t c = 0; c < a->value_dim; ++c) dv[c] = 0;
    }
    for (int64_t h = g * group; h < (g + 1) * group; ++h) {
      for (int64_t i = 0; i < a->q_len; ++i) {
        const float* q = q0 + b * a->q_batch_stride + h * a->q_head_stride + i * a->q_row_stride;
        const float* dout =
            dout0 + b * a->dout_batch_stride + h * a->dout_head_stride + i * a->dout_row_stride;
        float* dq = dq0 + b * a->dq_batch_stride + h * a->dq_head_stride + i * a->dq_row_stride;
        const float lse = a->lse[(b * a->q_heads + h) * a->q_len + i];
        for (int64_t c = 0; c < a->head_dim; ++c) dq[c] = 0;
        for (int64_t j0 = start; j0 < end; j0 += tile) {
          const int64_t j1 = j0 + tile < end ? j0 + tile : end;
          if (a->causal && j0 > i + shift) break;
          // softmax gradient: dS = P * (dP - sum(P * dP))
          float p[tile], dp[tile];
          float delta = 0;
          for (int64_t j = j0; j < j1; ++j) {
            const float* k =
                k0 + b * a->k_batch_stride + g * a->k_head_stride + j * a->k_row_stride;
            const float* v =
                v0 + b * a->v_batch_stride + g * a->v_head_stride + j * a->v_row_stride;
            const bool visible = (!a->causal || j <= i + shift) &&
                                 (a->window_left < 0 || j >= i + shift - a->window_left) &&
                                 (a->window_right < 0 || j <= i + shift + a->window_right);
            p[j - j0] = visible ? std::exp(a->scale * dot(q, k, a->head_dim) - lse) : 0;
            dp[j - j0] = dot(dout, v, a->value_dim);
            delta += p[j - j0] * dp[j - j0];
          }
          for (int64_t j = j0; j < j1; ++j) {
            const float* k =
                k0 + b * a->k_batch_stride + g * a->k_head_stride + j * a->k_row_stride;
            float* dk = dk0 + b * a->dk_batch_stride + g * a->dk_head_stride + j * a->dk_row_stride;
            float* dv = dv0 + b * a->dv_batch_stride + g * a->dv_head_stride + j * a->dv_row_stride;
            const float ds = p[j - j0] * (dp[j - j0] - delta);
            for (int64_t c = 0; c < a->value_dim; ++c) dv[c] += p[j - j0] * dout[c];
            for (int64_t c = 0; c < a->head_dim; ++c) {
              dk[c] += a->scale * ds * q[c];
              dq[c] += a->scale * ds * k[c];
            }
          }
        }
      }
    }
  }
  return FLASH_ATTENTION_OK;
}
