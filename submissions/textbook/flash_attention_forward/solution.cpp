// FlashAttention-2 as the paper writes it: a block of queries keeps its running maximum, its sum of
// weights and its unnormalised output while it walks over the keys tile by tile.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "contract.h"

namespace {

constexpr std::int64_t kQueryBlock = 32;
constexpr std::int64_t kKeyTile = 64;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct KeyRange {
  std::int64_t first;
  std::int64_t last;  // not included
};

KeyRange existing_keys(const FlashAttentionForwardArgs& args, std::int64_t batch) {
  const std::int64_t start = args.kv_start != nullptr ? args.kv_start[batch] : 0;
  const std::int64_t length = args.kv_len != nullptr ? args.kv_len[batch] : args.k_len - start;
  return {start, start + length};
}

KeyRange visible_keys(const FlashAttentionForwardArgs& args, KeyRange keys, std::int64_t query) {
  const std::int64_t position = query + keys.last - args.q_len;
  if (args.causal != 0) keys.last = std::min(keys.last, position + 1);
  if (args.window_right >= 0) keys.last = std::min(keys.last, position + args.window_right + 1);
  if (args.window_left >= 0) keys.first = std::max(keys.first, position - args.window_left);
  return keys;
}

/// The rows of one head and one batch entry.
struct HeadRows {
  const float* q;
  const float* k;
  const float* v;
  float* o;
  float* lse;  // null: not wanted
};

HeadRows rows_of(const FlashAttentionForwardArgs& args, std::int64_t batch, std::int64_t head) {
  const std::int64_t group = head / (args.q_heads / args.kv_heads);
  HeadRows rows;
  rows.q =
      static_cast<const float*>(args.q) + batch * args.q_batch_stride + head * args.q_head_stride;
  rows.k =
      static_cast<const float*>(args.k) + batch * args.k_batch_stride + group * args.k_head_stride;
  rows.v =
      static_cast<const float*>(args.v) + batch * args.v_batch_stride + group * args.v_head_stride;
  rows.o = static_cast<float*>(args.o) + batch * args.o_batch_stride + head * args.o_head_stride;
  rows.lse = args.lse == nullptr ? nullptr : args.lse + (batch * args.q_heads + head) * args.q_len;
  return rows;
}

float score(const FlashAttentionForwardArgs& args, const float* q, const float* k) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t d = 0; d < args.head_dim; ++d) sum += q[d] * k[d];
  sum *= args.scale;
  return args.softcap > 0 ? args.softcap * std::tanh(sum / args.softcap) : sum;
}

/// The running softmax of one query.
struct Accumulator {
  float max = kMinusInfinity;
  float sum = 0;
  std::vector<float> o;

  /// Adds `count` keys with these scores, of which some may be -inf, and their values.
  void add(float* scores, std::int64_t count, const float* v, std::int64_t v_stride) {
    const float new_max = std::max(max, *std::max_element(scores, scores + count));
    if (new_max == kMinusInfinity) return;
    const float correction = std::exp(max - new_max);
    float tile_sum = 0;
    for (std::int64_t n = 0; n < count; ++n) {
      scores[n] = std::exp(scores[n] - new_max);
      tile_sum += scores[n];
    }
    sum = sum * correction + tile_sum;
    max = new_max;
    for (float& value : o) value *= correction;
    for (std::int64_t n = 0; n < count; ++n)
      for (std::size_t d = 0; d < o.size(); ++d)
        o[d] += scores[n] * v[n * v_stride + static_cast<std::int64_t>(d)];
  }
};

void attend_block(const FlashAttentionForwardArgs& args, const HeadRows& rows, KeyRange keys,
                  std::int64_t first_query) {
  const std::int64_t last_query = std::min(first_query + kQueryBlock, args.q_len);
  std::vector<Accumulator> block(static_cast<std::size_t>(last_query - first_query));
  for (Accumulator& query : block) query.o.assign(static_cast<std::size_t>(args.value_dim), 0.0f);

  for (std::int64_t tile = keys.first; tile < keys.last; tile += kKeyTile) {
    const std::int64_t tile_end = std::min(tile + kKeyTile, keys.last);
    for (std::int64_t i = first_query; i < last_query; ++i) {
      KeyRange seen = visible_keys(args, keys, i);
      seen.first = std::max(seen.first, tile);
      seen.last = std::min(seen.last, tile_end);
      if (seen.first >= seen.last) continue;
      float scores[kKeyTile];
      for (std::int64_t j = seen.first; j < seen.last; ++j)
        scores[j - seen.first] =
            score(args, rows.q + i * args.q_row_stride, rows.k + j * args.k_row_stride);
      block[static_cast<std::size_t>(i - first_query)].add(scores, seen.last - seen.first,
                                                           rows.v + seen.first * args.v_row_stride,
                                                           args.v_row_stride);
    }
  }

  for (std::int64_t i = first_query; i < last_query; ++i) {
    const Accumulator& query = block[static_cast<std::size_t>(i - first_query)];
    const bool empty = query.sum == 0;
    for (std::size_t d = 0; d < query.o.size(); ++d)
      rows.o[i * args.o_row_stride + static_cast<std::int64_t>(d)] =
          empty ? 0.0f : query.o[d] / query.sum;
    if (rows.lse != nullptr) rows.lse[i] = empty ? kMinusInfinity : query.max + std::log(query.sum);
  }
}

bool strides_are_bad(const FlashAttentionForwardArgs& args) {
  const std::int64_t strides[] = {args.q_batch_stride, args.q_head_stride, args.q_row_stride,
                                  args.k_batch_stride, args.k_head_stride, args.k_row_stride,
                                  args.v_batch_stride, args.v_head_stride, args.v_row_stride,
                                  args.o_batch_stride, args.o_head_stride, args.o_row_stride};
  return std::any_of(std::begin(strides), std::end(strides),
                     [](auto stride) { return stride < 0; });
}

bool sizes_are_bad(const FlashAttentionForwardArgs& args) {
  if (args.batch < 0 || args.q_heads < 0 || args.kv_heads < 0) return true;
  if (args.q_len < 0 || args.k_len < 0 || args.head_dim < 1 || args.value_dim < 1) return true;
  if (args.q_heads > 0 && (args.kv_heads < 1 || args.q_heads % args.kv_heads != 0)) return true;
  for (std::int64_t b = 0; b < args.batch; ++b) {
    const KeyRange keys = existing_keys(args, b);
    if (keys.first < 0 || keys.last < keys.first || keys.last > args.k_len) return true;
  }
  return false;
}

bool options_are_bad(const FlashAttentionForwardArgs& args) {
  if (args.num_threads < 1 || args.window_left < -1 || args.window_right < -1) return true;
  if (!std::isfinite(args.scale) || !std::isfinite(args.softcap) || args.softcap < 0) return true;
  const bool any_output = args.batch > 0 && args.q_heads > 0 && args.q_len > 0;
  if (any_output && (args.q == nullptr || args.o == nullptr)) return true;
  return any_output && args.k_len > 0 && (args.k == nullptr || args.v == nullptr);
}

}  // namespace

extern "C" int64_t flash_attention_forward(const FlashAttentionForwardArgs* arguments) {
  const FlashAttentionForwardArgs& args = *arguments;
  if (args.abi_version != FLASH_ATTENTION_ABI_VERSION || args.device != FLASH_ATTENTION_HOST ||
      args.data_type != FLASH_ATTENTION_F32)
    return FLASH_ATTENTION_UNSUPPORTED;
  if (sizes_are_bad(args) || strides_are_bad(args) || options_are_bad(args))
    return FLASH_ATTENTION_BAD_ARGUMENT;

  const std::int64_t blocks = (args.q_len + kQueryBlock - 1) / kQueryBlock;
  const std::int64_t items = args.batch * args.q_heads * blocks;
#pragma omp parallel for schedule(dynamic) num_threads(args.num_threads)
  for (std::int64_t item = 0; item < items; ++item) {
    const std::int64_t head = item / blocks % args.q_heads;
    const std::int64_t batch = item / blocks / args.q_heads;
    attend_block(args, rows_of(args, batch, head), existing_keys(args, batch),
                 item % blocks * kQueryBlock);
  }
  return FLASH_ATTENTION_OK;
}
