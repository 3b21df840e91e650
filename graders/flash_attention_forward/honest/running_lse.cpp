// strategy: float64, a running log-sum-exp in the place of maximum and sum, o always normalised
// uses: results may be nearer to the formulas than float32 sums are
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

double exact_score(const Args& a, const float* q, const float* k) {
  double sum = 0;
  for (std::int64_t d = 0; d < a.head_dim; ++d) sum += static_cast<double>(q[d]) * k[d];
  const double score = a.scale * sum;
  return a.softcap > 0 ? a.softcap * std::tanh(score / a.softcap) : score;
}

void attend_row(const Args& a, const Head& head, std::int64_t query, std::vector<double>& o) {
  const Range keys = visible_keys(a, head.batch, query);
  double lse = -std::numeric_limits<double>::infinity();
  o.assign(a.value_dim, 0.0);
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    const double score =
        exact_score(a, head.q + query * a.q_row_stride, head.k + j * a.k_row_stride);
    const double new_lse = score > lse ? score + std::log1p(std::exp(lse - score))
                                       : lse + std::log1p(std::exp(score - lse));
    const double keep = std::exp(lse - new_lse);
    const double add = std::exp(score - new_lse);
    const float* v = head.v + j * a.v_row_stride;
    for (std::int64_t d = 0; d < a.value_dim; ++d) o[d] = keep * o[d] + add * v[d];
    lse = new_lse;
  }
  for (std::int64_t d = 0; d < a.value_dim; ++d)
    head.o[query * a.o_row_stride + d] = static_cast<float>(o[d]);
  if (head.lse != nullptr) head.lse[query] = static_cast<float>(lse);
}

void attend(const Args& a, const Head& head, std::int64_t first, std::int64_t last) {
  std::vector<double> o;
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
