// strategy: each thread walks a stripe with online softmax and a heap of k; then a merge
// uses: sums may be taken in any order, so that lse and probs differ within ACCURACY and with
// num_threads
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common.h"

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct Entry {
  float z;
  int32_t index;
};

// NaN is taken for -inf, which gives it a place.
Entry entry_of(const float* z, int64_t j) {
  return {std::isnan(z[j]) ? kMinusInfinity : z[j], static_cast<int32_t>(j)};
}

bool before(const Entry& a, const Entry& b) {
  return a.z > b.z || (a.z == b.z && a.index < b.index);
}

// What one stripe, or several, leave behind.
struct Partial {
  float max = kMinusInfinity;
  float sum = 0;
  float lost = 0;  // what the additions to sum rounded off (Kahan)
  std::vector<Entry> heap;

  void add(float term) {
    const float corrected = term - lost;
    const float next = sum + corrected;
    lost = (next - sum) - corrected;
    sum = next;
  }

  void rescale(float factor) {
    sum *= factor;
    lost *= factor;
  }

  void see(float z, float scale) {
    if (z > max) {
      rescale(max == kMinusInfinity ? 0.0f : std::exp(below(max, z, scale)));
      max = z;
    }
    if (max != kMinusInfinity) add(std::exp(below(z, max, scale)));
  }

  void offer(const Entry& entry, size_t k) {
    if (heap.size() < k) {
      heap.push_back(entry);
      std::push_heap(heap.begin(), heap.end(), before);
    } else if (before(entry, heap.front())) {
      std::pop_heap(heap.begin(), heap.end(), before);
      heap.back() = entry;
      std::push_heap(heap.begin(), heap.end(), before);
    }
  }

  void merge(const Partial& other, float scale, size_t k) {
    for (const Entry& entry : other.heap) offer(entry, k);
    if (other.max == kMinusInfinity) return;
    const float both = std::max(max, other.max);
    if (max != kMinusInfinity) rescale(std::exp(below(max, both, scale)));
    max = both;
    add(other.sum * std::exp(below(other.max, both, scale)));
  }
};

struct Stripes {
  int64_t count;  // entries j with j % count == s belong to stripe s
  size_t k;
  float scale;
};

Partial walk(const float* z, int64_t len, int64_t stripe, const Stripes& stripes) {
  Partial partial;
  const int64_t own = std::max<int64_t>(0, (len - stripe + stripes.count - 1) / stripes.count);
  partial.heap.reserve(std::min(stripes.k, static_cast<size_t>(own)));
  for (int64_t j = stripe; j < len; j += stripes.count) {
    partial.see(z[j], stripes.scale);
    partial.offer(entry_of(z, j), stripes.k);
  }
  return partial;
}

void write_row(const SoftmaxTopkArgs& args, int64_t i, Partial& all) {
  std::sort_heap(all.heap.begin(), all.heap.end(), before);
  const bool empty = all.max == kMinusInfinity;
  for (int64_t j = 0; j < args.k; ++j) {
    const bool known = j < static_cast<int64_t>(all.heap.size());
    const Entry entry = known ? all.heap[j] : Entry{kMinusInfinity, -1};
    args.indices[i * args.k + j] = entry.index;
    args.probs[i * args.k + j] =
        entry.z == kMinusInfinity ? 0.0f : std::exp(below(entry.z, all.max, args.scale)) / all.sum;
  }
  const float max = args.scale * all.max;
  if (args.row_max) args.row_max[i] = max;
  if (args.lse) args.lse[i] = empty ? max : max + std::log(all.sum);
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (const int64_t status = refusal(*args); status != SOFTMAX_TOPK_OK) return status;
  const Stripes stripes{args->vocab < 4096 ? 1 : int64_t{args->num_threads},
                        static_cast<size_t>(args->k), args->scale};
  std::vector<Partial> partials(static_cast<size_t>(stripes.count));
  for (int64_t i = 0; i < args->rows; ++i) {
    const float* z = static_cast<const float*>(args->logits) + i * args->row_stride;
    const int64_t len = args->valid_len ? args->valid_len[i] : args->vocab;
#pragma omp parallel for num_threads(static_cast <int>(stripes.count)) schedule(static)
    for (int64_t s = 0; s < stripes.count; ++s) partials[s] = walk(z, len, s, stripes);
    for (int64_t s = 1; s < stripes.count; ++s)
      partials[0].merge(partials[s], stripes.scale, stripes.k);
    write_row(*args, i, partials[0]);
  }
  return SOFTMAX_TOPK_OK;
}
