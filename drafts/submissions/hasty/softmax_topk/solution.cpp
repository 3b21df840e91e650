// Fused softmax + top-k. The row is split over 64 lanes, each lane keeps its own best candidates in
// a small sorted list, then all lists are merged.
#include <algorithm>
#include <cmath>
#include <vector>

#include "contract.h"

namespace {

constexpr int kLanes = 64;
constexpr int kPerLane = 8;

struct Candidate {
  float value;
  int32_t index;
};

struct Lane {
  Candidate list[kPerLane];
  float max;
  float sum;
};

void insert(Lane& lane, float value, int32_t index) {
  if (value <= lane.list[kPerLane - 1].value) return;
  int at = kPerLane - 1;
  while (at > 0 && lane.list[at - 1].value < value) {
    lane.list[at] = lane.list[at - 1];
    --at;
  }
  lane.list[at] = {value, index};
}

void reset(Lane& lane) {
  for (auto& candidate : lane.list) candidate = {-1e30f, -1};
  lane.max = -1e30f;
  lane.sum = 0;
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (args->data_type != SOFTMAX_TOPK_F32 || args->device != SOFTMAX_TOPK_HOST)
    return SOFTMAX_TOPK_UNSUPPORTED;
  if (args->k < 1 || args->k > args->vocab || args->rows < 0) return SOFTMAX_TOPK_BAD_ARGUMENT;

#pragma omp parallel for num_threads(args->num_threads)
  for (int64_t row = 0; row < args->rows; ++row) {
    const float* z = static_cast<const float*>(args->logits) + row * args->row_stride;
    const int64_t len = args->valid_len ? args->valid_len[row] : args->vocab;

    Lane lanes[kLanes];
    for (auto& lane : lanes) reset(lane);
    for (int64_t i = 0; i < len; ++i) {
      Lane& lane = lanes[i % kLanes];
      const float v = z[i] * args->scale;
      if (v > lane.max) {
        lane.sum *= std::exp(lane.max - v);
        lane.max = v;
      }
      lane.sum += std::exp(v - lane.max);
      insert(lane, v, static_cast<int32_t>(i));
    }

    float max = -1e30f;
    for (auto& lane : lanes) max = std::max(max, lane.max);
    float sum = 0;
    for (auto& lane : lanes) sum += lane.sum * std::exp(lane.max - max);

    std::vector<Candidate> all;
    for (auto& lane : lanes)
      for (auto& candidate : lane.list)
        if (candidate.index >= 0) all.push_back(candidate);
    std::sort(all.begin(), all.end(),
              [](const Candidate& a, const Candidate& b) { return a.value > b.value; });

    for (int64_t k = 0; k < args->k; ++k) {
      const bool valid = k < static_cast<int64_t>(all.size());
      args->indices[row * args->k + k] = valid ? all[k].index : -1;
      args->probs[row * args->k + k] = valid ? std::exp(all[k].value - max) / sum : 0.0f;
    }
    if (args->lse) args->lse[row] = max + std::log(sum);
    if (args->row_max) args->row_max[row] = max;
  }
  return SOFTMAX_TOPK_OK;
}
