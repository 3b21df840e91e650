// strategy: radix select on the bits of the logits; pairwise float sums; std::thread
// uses: in a row with NaN or +inf the indices need only be different and within the row, and the
// numbers may be anything
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "common.h"

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Unsigned integers in the order of the floats, -0 as +0, NaN below everything.
uint32_t key_of(float value) {
  if (std::isnan(value)) return 0;
  const auto bits = std::bit_cast<uint32_t>(value + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

struct Row {
  const float* z;
  int64_t len;
};

// The key of the k-th largest entry, and how many entries are above it.
struct Cut {
  uint32_t key = 0;
  int64_t above = 0;
};

Cut cut_of(const Row& row, int64_t k) {
  Cut cut;
  for (int shift = 24; shift >= 0; shift -= 8) {
    std::array<int64_t, 256> counts{};
    const uint32_t known = shift == 24 ? 0 : ~0u << (shift + 8);
    for (int64_t j = 0; j < row.len; ++j) {
      const uint32_t key = key_of(row.z[j]);
      if (((key ^ cut.key) & known) == 0) ++counts[key >> shift & 0xff];
    }
    uint32_t digit = 255;
    while (cut.above + counts[digit] < k) cut.above += counts[digit--];
    cut.key |= digit << shift;
  }
  return cut;
}

std::vector<int32_t> best_of(const Row& row, int64_t k) {
  k = std::min(k, row.len);
  std::vector<int32_t> best;
  if (k == 0) return best;
  const Cut cut = cut_of(row, k);
  int64_t equal = k - cut.above;  // of those at the cut, the first ones count
  for (int64_t j = 0; j < row.len; ++j) {
    const uint32_t key = key_of(row.z[j]);
    if (key > cut.key || (key == cut.key && equal-- > 0)) best.push_back(static_cast<int32_t>(j));
  }
  std::stable_sort(best.begin(), best.end(),
                   [&row](int32_t a, int32_t b) { return key_of(row.z[a]) > key_of(row.z[b]); });
  return best;
}

float pairwise_sum(const Row& row, int64_t begin, int64_t end, float max, float scale) {
  constexpr int64_t kLeaf = 32;
  if (end - begin > kLeaf) {
    const int64_t middle = begin + (end - begin) / 2;
    return pairwise_sum(row, begin, middle, max, scale) +
           pairwise_sum(row, middle, end, max, scale);
  }
  float sum = 0;
  for (int64_t j = begin; j < end; ++j) sum += std::exp(below(row.z[j], max, scale));
  return sum;
}

float max_of(const Row& row) {
  float max = kMinusInfinity;
  for (int64_t j = 0; j < row.len; ++j) max = row.z[j] > max ? row.z[j] : max;
  return max;
}

void write_row(const SoftmaxTopkArgs& args, int64_t i) {
  const Row row{static_cast<const float*>(args.logits) + i * args.row_stride,
                args.valid_len ? args.valid_len[i] : args.vocab};
  const std::vector<int32_t> best = best_of(row, args.k);
  const float max = max_of(row);
  const bool empty = max == kMinusInfinity;
  const float sum = empty ? 1.0f : pairwise_sum(row, 0, row.len, max, args.scale);
  int32_t* indices = args.indices + i * args.k;
  float* probs = args.probs + i * args.k;
  std::fill_n(std::copy(best.begin(), best.end(), indices), args.k - best.size(), -1);
  std::fill_n(probs, args.k, 0.0f);
  for (size_t j = 0; j < best.size() && !empty; ++j)
    probs[j] = std::exp(below(row.z[best[j]], max, args.scale)) / sum;
  if (args.row_max) args.row_max[i] = args.scale * max;
  if (args.lse) args.lse[i] = empty ? kMinusInfinity : args.scale * max + std::log(sum);
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (const int64_t status = refusal(*args); status != SOFTMAX_TOPK_OK) return status;
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i = next++; i < args->rows; i = next++) write_row(*args, i);
  };
  std::vector<std::thread> others;
  const int64_t useful = args->rows * args->vocab > 100'000 ? args->num_threads : 1;
  for (int64_t t = 1; t < std::min<int64_t>(useful, args->rows); ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return SOFTMAX_TOPK_OK;
}
