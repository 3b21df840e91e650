// strategy: one key at a time, rescaling only when the maximum has grown by more than 5
// uses: weights may be relative to another number than the maximum, so that results differ within
// ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

constexpr float kPatience = 5;  // e^5 times values of 1e36 together stays below FLT_MAX

void attend_row(const Args& a, const Head& head, std::int64_t query, std::vector<float>& o) {
  const Range keys = visible_keys(a, head.batch, query);
  float origin = kMinusInfinity;
  float sum = 0;
  o.assign(a.value_dim, 0.0f);
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    const float score = score_of(a, head.q + query * a.q_row_stride, head.k + j * a.k_row_stride);
    if (score > origin + kPatience || sum == 0) {
      const float correction = sum == 0 ? 0 : std::exp(origin - score);
      for (float& d : o) d *= correction;
      sum *= correction;
      origin = score;
    }
    const float weight = std::exp(score - origin);
    sum += weight;
    const float* v = head.v + j * a.v_row_stride;
    for (std::int64_t d = 0; d < a.value_dim; ++d) o[d] += weight * v[d];
  }
  for (std::int64_t d = 0; d < a.value_dim; ++d)
    head.o[query * a.o_row_stride + d] = sum > 0 ? o[d] / sum : 0;
  if (head.lse != nullptr) head.lse[query] = sum > 0 ? origin + std::log(sum) : kMinusInfinity;
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
