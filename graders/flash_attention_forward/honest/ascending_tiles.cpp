// strategy: online softmax over tiles of keys, first to last, a block of queries at a time
// uses: keys may be taken in tiles of any size, so that results differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include "common.h"

namespace {

constexpr std::int64_t kTile = 48;

/// What is known of one query so far.
struct Row {
  float max = kMinusInfinity;
  float sum = 0;
  std::vector<float> o;
};

void add_tile(const Args& a, const Head& head, std::int64_t query, Range tile, Row& row) {
  const Range keys = visible_keys(a, head.batch, query);
  const float* q = head.q + query * a.q_row_stride;
  float p[kTile];
  float tile_max = kMinusInfinity;
  for (std::int64_t j = tile.first; j < tile.last; ++j) {
    const bool visible = j >= keys.first && j < keys.last;
    const float score = visible ? score_of(a, q, head.k + j * a.k_row_stride) : kMinusInfinity;
    p[j - tile.first] = score;
    tile_max = std::max(tile_max, score);
  }
  const float new_max = std::max(row.max, tile_max);
  if (new_max == kMinusInfinity) return;  // nothing visible yet
  const float correction = std::exp(row.max - new_max);
  row.sum *= correction;
  for (float& o : row.o) o *= correction;
  row.max = new_max;
  for (std::int64_t j = tile.first; j < tile.last; ++j) {
    const float weight = std::exp(p[j - tile.first] - new_max);
    row.sum += weight;
    const float* v = head.v + j * a.v_row_stride;
    for (std::int64_t d = 0; d < a.value_dim; ++d) row.o[d] += weight * v[d];
  }
}

void store(const Args& a, const Head& head, std::int64_t query, const Row& row) {
  float* o = head.o + query * a.o_row_stride;
  const float inverse = row.sum > 0 ? 1 / row.sum : 0;
  for (std::int64_t d = 0; d < a.value_dim; ++d) o[d] = row.o[d] * inverse;
  if (head.lse != nullptr)
    head.lse[query] = row.sum > 0 ? row.max + std::log(row.sum) : kMinusInfinity;
}

void attend(const Args& a, const Head& head, std::int64_t first, std::int64_t last) {
  std::vector<Row> rows(last - first);
  for (Row& row : rows) row.o.assign(a.value_dim, 0.0f);
  const Range keys = existing_keys(a, head.batch);
  for (std::int64_t key = keys.first; key < keys.last; key += kTile) {
    const Range tile{key, std::min(key + kTile, keys.last)};
    for (std::int64_t query = first; query < last; ++query) {
      const Range visible = visible_keys(a, head.batch, query);
      if (visible.last <= tile.first || visible.first >= tile.last) continue;
      add_tile(a, head, query, tile, rows[query - first]);
    }
  }
  for (std::int64_t query = first; query < last; ++query)
    store(a, head, query, rows[query - first]);
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
