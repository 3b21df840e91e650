// strategy: blocks in float, lane sums, and a buffer of candidates above a threshold
// uses: sums may be taken in any order, so that lse and probs differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common.h"

namespace {

constexpr int64_t kBlock = 512;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct Candidate {
  float z;
  int32_t index;
};

bool before(const Candidate& a, const Candidate& b) {
  return a.z > b.z || (a.z == b.z && a.index < b.index);
}

// The k best of what it was given. Entries come in ascending order of the index, so that one that
// is equal to the threshold comes too late.
class Buffer {
 public:
  explicit Buffer(int64_t k) : k_(static_cast<size_t>(k)) {}

  void clear() {
    kept_.clear();
    full_ = false;
  }

  void offer(const float* z, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      const float value = std::isnan(z[j]) ? kMinusInfinity : z[j];
      if (full_ && !(value > threshold_)) continue;
      kept_.push_back({value, static_cast<int32_t>(j)});
      if (kept_.size() >= 2 * k_ + 64) cut();
    }
  }

  const std::vector<Candidate>& finish() {
    if (kept_.size() > k_) cut();
    std::sort(kept_.begin(), kept_.end(), before);
    return kept_;
  }

 private:
  void cut() {
    const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(kept_.begin(), last, kept_.end(), before);
    kept_.resize(k_);
    threshold_ = kept_.back().z;
    full_ = true;
  }

  size_t k_;
  bool full_ = false;
  float threshold_ = kMinusInfinity;
  std::vector<Candidate> kept_;
};

struct Softmax {
  float max = kMinusInfinity;
  double sum = 0;

  void add_block(const float* z, int64_t begin, int64_t end, float scale) {
    float block_max = kMinusInfinity;
    for (int64_t j = begin; j < end; ++j) block_max = z[j] > block_max ? z[j] : block_max;
    if (block_max > max) {
      sum *=
          max == kMinusInfinity ? 0.0 : std::exp(double{scale} * (double{max} - double{block_max}));
      max = block_max;
    }
    if (max == kMinusInfinity) return;
    float lanes[8]{};
    for (int64_t j = begin; j < end; ++j) lanes[j % 8] += std::exp(below(z[j], max, scale));
    sum += double{lanes[0] + lanes[4]} + double{lanes[1] + lanes[5]} + double{lanes[2] + lanes[6]} +
           double{lanes[3] + lanes[7]};
  }
};

void write_row(const SoftmaxTopkArgs& args, int64_t i, Buffer& buffer) {
  const float* z = static_cast<const float*>(args.logits) + i * args.row_stride;
  const int64_t len = args.valid_len ? args.valid_len[i] : args.vocab;
  Softmax softmax;
  buffer.clear();
  for (int64_t begin = 0; begin < len; begin += kBlock) {
    const int64_t end = std::min(len, begin + kBlock);
    softmax.add_block(z, begin, end, args.scale);
    buffer.offer(z, begin, end);
  }
  const std::vector<Candidate>& best = buffer.finish();
  const bool empty = softmax.max == kMinusInfinity;
  const float log_sum = static_cast<float>(std::log(softmax.sum));
  for (int64_t j = 0; j < args.k; ++j) {
    const bool known = j < static_cast<int64_t>(best.size());
    args.indices[i * args.k + j] = known ? best[j].index : -1;
    args.probs[i * args.k + j] =
        known && !empty ? std::exp(below(best[j].z, softmax.max, args.scale) - log_sum) : 0.0f;
  }
  const float max = args.scale * softmax.max;
  if (args.row_max) args.row_max[i] = max;
  if (args.lse) args.lse[i] = empty ? max : max + log_sum;
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (const int64_t status = refusal(*args); status != SOFTMAX_TOPK_OK) return status;
#pragma omp parallel num_threads(args->num_threads)
  {
    Buffer buffer(args->k);
#pragma omp for schedule(dynamic, 4)
    for (int64_t i = 0; i < args->rows; ++i) write_row(*args, i, buffer);
  }
  return SOFTMAX_TOPK_OK;
}
