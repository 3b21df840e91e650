#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "contract.h"

// Tiled attention with online softmax. Parallel over batch and heads.

static const float NEG_INF = -1e9f;
static const int64_t BLOCK_M = 64;
static const int64_t BLOCK_N = 64;

extern "C" int64_t flash_attention_forward(const FlashAttentionForwardArgs* args) {
  if (args->data_type != FLASH_ATTENTION_F32) return FLASH_ATTENTION_UNSUPPORTED;
  if (args->batch < 0 || args->q_len < 0 || args->k_len < 0) return FLASH_ATTENTION_BAD_ARGUMENT;
  if (args->head_dim <= 0 || args->value_dim <= 0) return FLASH_ATTENTION_BAD_ARGUMENT;
  if (args->kv_heads <= 0 || args->q_heads % args->kv_heads != 0)
    return FLASH_ATTENTION_BAD_ARGUMENT;

  const int64_t D = args->head_dim;
  const int64_t DV = args->value_dim;
  const int64_t group = args->q_heads / args->kv_heads;

#pragma omp parallel for collapse(2) num_threads(args->num_threads)
  for (int64_t b = 0; b < args->batch; b++) {
    for (int64_t h = 0; h < args->q_heads; h++) {
      const float* q = (const float*)args->q + b * args->q_batch_stride + h * args->q_head_stride;
      const float* k =
          (const float*)args->k + b * args->k_batch_stride + (h / group) * args->k_head_stride;
      const float* v =
          (const float*)args->v + b * args->v_batch_stride + (h / group) * args->v_head_stride;
      float* o = (float*)args->o + b * args->o_batch_stride + h * args->o_head_stride;

      const int64_t start = args->kv_start ? args->kv_start[b] : 0;
      const int64_t end = args->kv_len ? start + args->kv_len[b] : args->k_len;

      std::vector<float> acc(BLOCK_M * DV), m(BLOCK_M), l(BLOCK_M), s(BLOCK_N);
      for (int64_t i0 = 0; i0 < args->q_len; i0 += BLOCK_M) {
        const int64_t rows = std::min(BLOCK_M, args->q_len - i0);
        std::fill(acc.begin(), acc.end(), 0.0f);
        std::fill(m.begin(), m.end(), NEG_INF);
        std::fill(l.begin(), l.end(), 0.0f);

        for (int64_t j0 = 0; j0 < args->k_len; j0 += BLOCK_N) {
          const int64_t cols = std::min(BLOCK_N, args->k_len - j0);
          for (int64_t r = 0; r < rows; r++) {
            const int64_t i = i0 + r;
            float row_max = m[r];
            for (int64_t c = 0; c < cols; c++) {
              const int64_t j = j0 + c;
              float dot = 0.0f;
              for (int64_t d = 0; d < D; d++)
                dot += q[i * args->q_row_stride + d] * k[j * args->k_row_stride + d];
              float x = dot * args->scale;
              if (args->softcap > 0) x = args->softcap * std::tanh(x / args->softcap);
              bool masked = j < start || j >= end;
              if (args->causal && j > i) masked = true;
              if (args->window_left >= 0 && j < i - args->window_left) masked = true;
              if (args->window_right >= 0 && j > i + args->window_right) masked = true;
              if (masked) x = NEG_INF;
              s[c] = x;
              row_max = std::max(row_max, x);
            }
            const float alpha = std::exp(m[r] - row_max);
            float row_sum = 0.0f;
            for (int64_t d = 0; d < DV; d++) acc[r * DV + d] *= alpha;
            for (int64_t c = 0; c < cols; c++) {
              const float p = std::exp(s[c] - row_max);
              row_sum += p;
              for (int64_t d = 0; d < DV; d++)
                acc[r * DV + d] += p * v[(j0 + c) * args->v_row_stride + d];
            }
            l[r] = l[r] * alpha + row_sum;
            m[r] = row_max;
          }
        }

        for (int64_t r = 0; r < rows; r++) {
          const float inv = l[r] > 0 ? 1.0f / l[r] : 0.0f;
          for (int64_t d = 0; d < DV; d++)
            o[(i0 + r) * args->o_row_stride + d] = acc[r * DV + d] * inv;
          if (args->lse)
            args->lse[(b * args->q_heads + h) * args->q_len + i0 + r] = m[r] + std::log(l[r]);
        }
      }
    }
  }
  return FLASH_ATTENTION_OK;
}
