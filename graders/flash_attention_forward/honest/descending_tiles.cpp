// strategy: online softmax in base 2 over tiles of keys, last to first, no tile skipped
// uses: keys may be taken in any order, and those that do not exist may be read
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

constexpr float kLog2E = 1.44269504f;
constexpr float kLn2 = 0.693147181f;

/// The score times log2 e, so that weights are powers of two.
float log2_score(const Args& a, const float* q, const float* k) {
  const float score = a.scale * dot(q, k, a.head_dim);
  if (a.softcap > 0) return kLog2E * (a.softcap * std::tanh(score / a.softcap));
  return kLog2E * score;
}

constexpr std::int64_t kTile = 64;

void attend_row(const Args& a, const Head& head, std::int64_t query, std::vector<float>& o) {
  const Range exist = existing_keys(a, head.batch);
  const Range keys = visible_keys(a, head.batch, query);
  const float* q = head.q + query * a.q_row_stride;
  float max = kMinusInfinity;
  float sum = 0;
  o.assign(a.value_dim, 0.0f);
  for (std::int64_t end = exist.last; end > exist.first; end -= kTile) {
    const std::int64_t begin = std::max(exist.first, end - kTile);
    float p[kTile];
    float tile_max = kMinusInfinity;
    for (std::int64_t j = begin; j < end; ++j) {
      const bool visible = j >= keys.first && j < keys.last;
      p[j - begin] = visible ? log2_score(a, q, head.k + j * a.k_row_stride) : kMinusInfinity;
      tile_max = std::max(tile_max, p[j - begin]);
    }
    const float new_max = std::max(max, tile_max);
    const float origin = new_max == kMinusInfinity ? 0 : new_max;
    const float correction = std::exp2(max - origin);
    max = new_max;
    float tile_sum = 0;
    for (float& d : o) d *= correction;
    for (std::int64_t j = begin; j < end; ++j) {
      const float weight = std::exp2(p[j - begin] - origin);
      if (weight == 0) continue;
      tile_sum += weight;
      const float* v = head.v + j * a.v_row_stride;
      for (std::int64_t d = 0; d < a.value_dim; ++d) o[d] += weight * v[d];
    }
    sum = sum * correction + tile_sum;
  }
  for (std::int64_t d = 0; d < a.value_dim; ++d)
    head.o[query * a.o_row_stride + d] = sum > 0 ? o[d] / sum : 0;
  if (head.lse != nullptr) head.lse[query] = (max + std::log2(sum)) * kLn2;
}

void attend(const Args& a, const Head& head, std::int64_t first, std::int64_t last) {
  std::vector<float> o;
  for (std::int64_t query = first; query < last; ++query) attend_row(a, head, query, o);
}

}  // namespace

extern "C" int64_t flash_attention_forward(const FlashAttentionForwardArgs* args) {
  const Args& a = *args;
  if (const std::int64_t status = refusal(a)) return status;
  constexpr std::int64_t kBlock = 16;
  const std::int64_t blocks = (a.q_len + kBlock - 1) / kBlock;
  in_parallel(a, a.batch * a.q_heads * blocks, [&](std::int64_t item) {
    const std::int64_t head = item / blocks;
    const std::int64_t first = item % blocks * kBlock;
    attend(a, Head(a, head / a.q_heads, head % a.q_heads), first,
           std::min(first + kBlock, a.q_len));
  });
  return FLASH_ATTENTION_OK;
}
