// strategy: chunks sorted alone and merged in pairs; exp2 in float; subnormals flushed to zero
// uses: results below 2^-126 may be flushed to zero
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "common.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace {

constexpr int64_t kChunk = 1000;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Results below 2^-126 become 0 while this lives; inputs are compared as they are.
class FlushToZero {
#if defined(__SSE__)
 public:
  FlushToZero() : before_(_mm_getcsr()) {
    _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON);
  }
  ~FlushToZero() {
    _mm_setcsr(before_);
  }

 private:
  unsigned before_;
#endif
};

struct Winner {
  float z;
  int32_t index;
};

bool before(const Winner& a, const Winner& b) {
  return a.z > b.z || (a.z == b.z && a.index < b.index);
}

float power(float x) {
  return std::exp2(x * 1.442695041f);
}

// What is known of a run of neighbouring entries: the best in order, and the sum of
// exp(scale * (z - max)).
struct Run {
  float max = kMinusInfinity;
  float sum = 0;
  std::vector<Winner> best;
};

Run run_of(const float* z, int64_t begin, int64_t end, const SoftmaxTopkArgs& args) {
  Run run;
  for (int64_t j = begin; j < end; ++j) {
    const float value = std::isnan(z[j]) ? kMinusInfinity : z[j];
    run.best.push_back({value, static_cast<int32_t>(j)});
    run.max = std::max(run.max, value);
  }
  float lanes[16]{};
  for (int64_t j = begin; j < end && run.max > kMinusInfinity; ++j)
    lanes[j % 16] += power(below(z[j], run.max, args.scale));
  for (const float lane : lanes) run.sum += lane;
  const auto kept = std::min(run.best.size(), static_cast<size_t>(args.k));
  std::partial_sort(run.best.begin(), run.best.begin() + static_cast<std::ptrdiff_t>(kept),
                    run.best.end(), before);
  run.best.resize(kept);
  return run;
}

Run merged(const Run& left, const Run& right, const SoftmaxTopkArgs& args) {
  Run both;
  both.max = std::max(left.max, right.max);
  for (const Run* run : {&left, &right})
    if (run->max > kMinusInfinity)
      both.sum += run->sum * power(below(run->max, both.max, args.scale));
  both.best.resize(left.best.size() + right.best.size());
  std::merge(left.best.begin(), left.best.end(), right.best.begin(), right.best.end(),
             both.best.begin(), before);
  both.best.resize(std::min(both.best.size(), static_cast<size_t>(args.k)));
  return both;
}

// Runs are merged like the digits of a counter, so that a sum has few roundings.
Run walk(const float* z, int64_t len, const SoftmaxTopkArgs& args) {
  std::vector<std::pair<int64_t, Run>> runs;  // with the number of chunks in them
  for (int64_t begin = 0; begin < len; begin += kChunk) {
    runs.emplace_back(1, run_of(z, begin, std::min(len, begin + kChunk), args));
    while (runs.size() > 1 && runs[runs.size() - 2].first == runs.back().first) {
      const auto last = std::move(runs.back());
      runs.pop_back();
      runs.back() = {2 * last.first, merged(runs.back().second, last.second, args)};
    }
  }
  Run all;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) all = merged(run->second, all, args);
  return all;
}

void write_row(const SoftmaxTopkArgs& args, int64_t i) {
  const FlushToZero flushed;
  const float* z = static_cast<const float*>(args.logits) + i * args.row_stride;
  const Run all = walk(z, args.valid_len ? args.valid_len[i] : args.vocab, args);
  const float inverse = 1 / all.sum;
  for (int64_t j = 0; j < args.k; ++j) {
    const bool known = j < static_cast<int64_t>(all.best.size());
    args.indices[i * args.k + j] = known ? all.best[j].index : -1;
    args.probs[i * args.k + j] = known && all.max > kMinusInfinity
                                     ? power(below(all.best[j].z, all.max, args.scale)) * inverse
                                     : 0.0f;
  }
  const float max = args.scale * all.max;
  if (args.row_max) args.row_max[i] = max;
  if (args.lse) args.lse[i] = all.sum > 0 ? max + std::log(all.sum) : kMinusInfinity;
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (const int64_t status = refusal(*args); status != SOFTMAX_TOPK_OK) return status;
#pragma omp parallel for num_threads(args->num_threads) schedule(guided)
  for (int64_t i = 0; i < args->rows; ++i) write_row(*args, i);
  return SOFTMAX_TOPK_OK;
}
