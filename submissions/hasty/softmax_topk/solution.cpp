// Fused softmax + top-k. The row is dealt out to 64 lanes, every lane keeps a short list of its
// best candidates and its own running max and sum, then everything is merged.
#include <algorithm>
#include <cmath>
#include <vector>

#include "contract.h"

namespace {

constexpr int kLanes = 64;
constexpr float kLowest = -INFINITY;
constexpr int32_t kNone = INT32_MAX;

struct Candidate {
  float value;
  int32_t index;
};

bool better(const Candidate& a, const Candidate& b) {
  if (a.value != b.value) return a.value > b.value;
  return a.index < b.index;
}

struct Lane {
  std::vector<Candidate> list;
  float max = kLowest;
  float sum = 0;

  void insert(const Candidate& candidate) {
    if (!better(candidate, list.back())) return;
    size_t at = list.size() - 1;
    for (; at > 0 && better(candidate, list[at - 1]); --at) list[at] = list[at - 1];
    list[at] = candidate;
  }

  void add(float value) {
    if (value == kLowest) return;
    if (value > max) {
      sum *= std::exp(max - value);
      max = value;
    }
    sum += std::exp(value - max);
  }
};

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (args->data_type != SOFTMAX_TOPK_F32 || args->device != SOFTMAX_TOPK_HOST)
    return SOFTMAX_TOPK_UNSUPPORTED;
  if (args->k < 1 || args->k > args->vocab || args->rows < 0) return SOFTMAX_TOPK_BAD_ARGUMENT;

  // Winners are spread over all lanes, so each one needs its share and some room.
  const int64_t per_lane = 2 * args->k / kLanes + 12;

#pragma omp parallel for num_threads(args->num_threads)
  for (int64_t row = 0; row < args->rows; ++row) {
    const float* z = static_cast<const float*>(args->logits) + row * args->row_stride;
    const int64_t len = args->valid_len ? args->valid_len[row] : args->vocab;

    std::vector<Lane> lanes(kLanes);
    for (auto& lane : lanes) lane.list.assign(per_lane, {kLowest, kNone});
    for (int64_t i = 0; i < len; ++i) {
      Lane& lane = lanes[i % kLanes];
      const float value = std::isnan(z[i]) ? kLowest : z[i] * args->scale;
      lane.add(value);
      lane.insert({value, static_cast<int32_t>(i)});
    }

    float max = kLowest;
    for (const auto& lane : lanes) max = std::max(max, lane.max);
    float sum = 0;
    for (const auto& lane : lanes) sum += lane.sum * std::exp(lane.max - max);

    std::vector<Candidate> all;
    for (const auto& lane : lanes)
      for (const auto& candidate : lane.list)
        if (candidate.index != kNone) all.push_back(candidate);
    std::sort(all.begin(), all.end(), better);

    for (int64_t j = 0; j < args->k; ++j) {
      const bool valid = j < static_cast<int64_t>(all.size());
      args->indices[row * args->k + j] = valid ? all[j].index : -1;
      args->probs[row * args->k + j] = valid ? std::exp(all[j].value - max) / sum : 0.0f;
    }
    if (args->lse) args->lse[row] = max + std::log(sum);
    if (args->row_max) args->row_max[row] = max;
  }
  return SOFTMAX_TOPK_OK;
}
