// strategy: one row of scores at a time: maximum and sum first, then the values
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "contract.h"

namespace {

using Args = FlashAttentionForwardArgs;

struct Range {
  std::int64_t first, last;
};

Range existing_keys(const Args& a, std::int64_t batch) {
  const std::int64_t start = a.kv_start != nullptr ? a.kv_start[batch] : 0;
  return {start, start + (a.kv_len != nullptr ? a.kv_len[batch] : a.k_len - start)};
}

Range visible_keys(const Args& a, std::int64_t batch, std::int64_t query) {
  Range keys = existing_keys(a, batch);
  const std::int64_t position = query + keys.last - a.q_len;
  if (a.causal != 0) keys.last = std::min(keys.last, position + 1);
  if (a.window_right >= 0) keys.last = std::min(keys.last, position + a.window_right + 1);
  if (a.window_left >= 0) keys.first = std::max(keys.first, position - a.window_left);
  return keys;
}

/// The rows of one query head.
struct Head {
  Head(const Args& a, std::int64_t batch_entry, std::int64_t head) : batch(batch_entry) {
    const std::int64_t group = head / (a.q_heads / a.kv_heads);
    q = static_cast<const float*>(a.q) + batch * a.q_batch_stride + head * a.q_head_stride;
    k = static_cast<const float*>(a.k) + batch * a.k_batch_stride + group * a.k_head_stride;
    v = static_cast<const float*>(a.v) + batch * a.v_batch_stride + group * a.v_head_stride;
    o = static_cast<float*>(a.o) + batch * a.o_batch_stride + head * a.o_head_stride;
    if (a.lse != nullptr) lse = a.lse + (batch * a.q_heads + head) * a.q_len;
  }
  std::int64_t batch;
  const float *q, *k, *v;
  float* o;
  float* lse = nullptr;
};

bool bad(const Args& a) {
  const std::int64_t strides[] = {a.q_batch_stride, a.q_head_stride, a.q_row_stride,
                                  a.k_batch_stride, a.k_head_stride, a.k_row_stride,
                                  a.v_batch_stride, a.v_head_stride, a.v_row_stride,
                                  a.o_batch_stride, a.o_head_stride, a.o_row_stride};
  for (const std::int64_t stride : strides)
    if (stride < 0) return true;
  if (a.batch < 0 || a.q_heads < 0 || a.kv_heads < 0 || a.q_len < 0 || a.k_len < 0) return true;
  if (a.head_dim < 1 || a.value_dim < 1 || a.num_threads < 1) return true;
  if (a.q_heads > 0 && (a.kv_heads < 1 || a.q_heads % a.kv_heads != 0)) return true;
  if (a.window_left < -1 || a.window_right < -1) return true;
  if (!std::isfinite(a.scale) || !std::isfinite(a.softcap) || a.softcap < 0) return true;
  const bool writes = a.batch * a.q_heads * a.q_len > 0;
  if (writes && (a.q == nullptr || a.o == nullptr)) return true;
  if (writes && a.k_len > 0 && (a.k == nullptr || a.v == nullptr)) return true;
  for (std::int64_t b = 0; b < a.batch; ++b) {
    const Range keys = existing_keys(a, b);
    if (keys.first < 0 || keys.last < keys.first || keys.last > a.k_len) return true;
  }
  return false;
}

template <class Work>
void in_parallel(const Args& a, std::int64_t items, const Work& work) {
  std::atomic<std::int64_t> next{0};
  const auto run = [&] {
    for (std::int64_t item; (item = next++) < items;) work(item);
  };
  std::vector<std::thread> helpers;
  for (std::int64_t n = 1; n < std::min<std::int64_t>(a.num_threads, items); ++n)
    helpers.emplace_back(run);
  run();
  for (std::thread& helper : helpers) helper.join();
}

float dot(const float* a, const float* b, std::int64_t dim) {
  float sums[16] = {};
  std::int64_t d = 0;
  for (; d + 16 <= dim; d += 16)
    for (int lane = 0; lane < 16; ++lane) sums[lane] += a[d + lane] * b[d + lane];
  float sum = 0;
  for (; d < dim; ++d) sum += a[d] * b[d];
  for (const float part : sums) sum += part;
  return sum;
}

float score_of(const Args& a, const float* q, const float* k) {
  const float score = a.scale * dot(q, k, a.head_dim);
  return a.softcap > 0 ? a.softcap * std::tanh(score / a.softcap) : score;
}

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

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
  if (a.abi_version != FLASH_ATTENTION_ABI_VERSION || a.device != FLASH_ATTENTION_HOST ||
      a.data_type != FLASH_ATTENTION_F32)
    return FLASH_ATTENTION_UNSUPPORTED;
  if (bad(a)) return FLASH_ATTENTION_BAD_ARGUMENT;
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
