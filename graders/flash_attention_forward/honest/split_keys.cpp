// strategy: keys split into shards, each a softmax of its own, merged by their log-sum-exps
// uses: keys may be split and merged in any way, so that results differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

/// A normalised softmax over some keys.
struct Shard {
  float lse = kMinusInfinity;
  std::vector<float> o;
};

Shard shard_of(const Args& a, const Head& head, std::int64_t query, Range keys) {
  Shard shard{kMinusInfinity, std::vector<float>(a.value_dim, 0.0f)};
  if (keys.first >= keys.last) return shard;
  std::vector<float> weights;
  for (std::int64_t j = keys.first; j < keys.last; ++j)
    weights.push_back(score_of(a, head.q + query * a.q_row_stride, head.k + j * a.k_row_stride));
  const float max = *std::max_element(weights.begin(), weights.end());
  float sum = 0;
  for (float& weight : weights) sum += weight = std::exp(weight - max);
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    const float* v = head.v + j * a.v_row_stride;
    for (std::int64_t d = 0; d < a.value_dim; ++d) shard.o[d] += weights[j - keys.first] * v[d];
  }
  for (float& o : shard.o) o /= sum;
  shard.lse = max + std::log(sum);
  return shard;
}

/// a becomes the softmax over the keys of both.
void merge(Shard& a, const Shard& b) {
  const float max = std::max(a.lse, b.lse);
  if (max == kMinusInfinity) return;
  const float from_a = std::exp(a.lse - max);
  const float from_b = std::exp(b.lse - max);
  for (std::size_t d = 0; d < a.o.size(); ++d)
    a.o[d] = (from_a * a.o[d] + from_b * b.o[d]) / (from_a + from_b);
  a.lse = max + std::log(from_a + from_b);
}

void attend_row(const Args& a, const Head& head, std::int64_t query) {
  const Range keys = visible_keys(a, head.batch, query);
  const std::int64_t length = std::max<std::int64_t>(100, (keys.last - keys.first + 7) / 8);
  Shard all{kMinusInfinity, std::vector<float>(a.value_dim, 0.0f)};
  for (std::int64_t first = keys.first; first < keys.last; first += length)
    merge(all, shard_of(a, head, query, {first, std::min(first + length, keys.last)}));
  std::copy(all.o.begin(), all.o.end(), head.o + query * a.o_row_stride);
  if (head.lse != nullptr) head.lse[query] = all.lse;
}

void attend(const Args& a, const Head& head, std::int64_t first, std::int64_t last) {
  for (std::int64_t query = first; query < last; ++query) attend_row(a, head, query);
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
