// strategy: one row of scores at a time: maximum and sum first, then the values
// uses: sums may be taken in any order, so that results differ within ACCURACY; scratch memory may
// hold a row of scores
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

void attend_row(const Args& a, const Head& head, std::int64_t query, std::vector<float>& scores) {
  const Range keys = visible_keys(a, head.batch, query);
  float* o = head.o + query * a.o_row_stride;
  std::fill_n(o, a.value_dim, 0.0f);
  if (head.lse != nullptr) head.lse[query] = kMinusInfinity;
  if (keys.first >= keys.last) return;
  scores.clear();
  for (std::int64_t j = keys.first; j < keys.last; ++j)
    scores.push_back(score_of(a, head.q + query * a.q_row_stride, head.k + j * a.k_row_stride));
  const float max = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (float& score : scores) sum += score = std::exp(score - max);
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    const float weight = scores[j - keys.first] / sum;
    const float* v = head.v + j * a.v_row_stride;
    for (std::int64_t d = 0; d < a.value_dim; ++d) o[d] += weight * v[d];
  }
  if (head.lse != nullptr) head.lse[query] = max + std::log(sum);
}

void attend(const Args& a, const Head& head, std::int64_t first, std::int64_t last) {
  std::vector<float> scores;
  for (std::int64_t query = first; query < last; ++query) attend_row(a, head, query, scores);
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
