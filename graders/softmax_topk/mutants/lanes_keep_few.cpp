// 256 lanes, as a GPU block would have, each with a list of its own for the entries that fall to
// it. The lists are twice as long as random rows ever need, and shorter than k.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "contract.h"

namespace {

constexpr int64_t kLanes = 256;

struct Entry {
  float z;
  int32_t index;
};

bool before(const Entry& a, const Entry& b) {
  return a.z > b.z || (a.z == b.z && a.index < b.index);
}

void write_row(const SoftmaxTopkArgs& args, int64_t i) {
  const float* z = static_cast<const float*>(args.logits) + i * args.row_stride;
  const int64_t len = args.valid_len ? args.valid_len[i] : args.vocab;
  const auto keep = static_cast<size_t>(4 + 2 * args.k / kLanes);
  std::vector<Entry> all;
  std::vector<Entry> mine;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    mine.clear();
    for (int64_t j = lane; j < len; j += kLanes)
      mine.push_back({std::isnan(z[j]) ? -INFINITY : z[j], static_cast<int32_t>(j)});
    const size_t count = std::min(keep, mine.size());
    std::partial_sort(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(count), mine.end(),
                      before);
    all.insert(all.end(), mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::sort(all.begin(), all.end(), before);
  double max = all.empty() ? -INFINITY : double{args.scale} * double{all[0].z};
  double sum = 0;
  for (int64_t j = 0; j < len; ++j) sum += std::exp(double{args.scale} * double{z[j]} - max);
  const bool empty = max == -INFINITY;
  for (int64_t j = 0; j < args.k; ++j) {
    const bool known = j < std::min(len, static_cast<int64_t>(all.size()));
    args.indices[i * args.k + j] = known ? all[j].index : -1;
    args.probs[i * args.k + j] =
        known && !empty
            ? static_cast<float>(std::exp(double{args.scale} * double{all[j].z} - max) / sum)
            : 0.0f;
  }
  if (args.row_max) args.row_max[i] = static_cast<float>(max);
  if (args.lse) args.lse[i] = static_cast<float>(empty ? max : max + std::log(sum));
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (args->abi_version != SOFTMAX_TOPK_ABI_VERSION || args->device != SOFTMAX_TOPK_HOST ||
      args->data_type != SOFTMAX_TOPK_F32)
    return SOFTMAX_TOPK_UNSUPPORTED;
  if (args->rows < 0 || args->vocab < 1 || args->k < 1 || args->k > args->vocab ||
      args->row_stride < args->vocab || args->num_threads < 1 || !(args->scale > 0) ||
      std::isinf(args->scale))
    return SOFTMAX_TOPK_BAD_ARGUMENT;
  if (args->rows > 0 && (!args->logits || !args->indices || !args->probs))
    return SOFTMAX_TOPK_BAD_ARGUMENT;
#pragma omp parallel for num_threads(args->num_threads)
  for (int64_t i = 0; i < args->rows; ++i) write_row(*args, i);
  return SOFTMAX_TOPK_OK;
}
