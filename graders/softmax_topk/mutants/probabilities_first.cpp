// The unfused textbook: a matrix of probabilities for the whole batch, and a sort of that.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "contract.h"

namespace {

void softmax_row(const SoftmaxTopkArgs& args, int64_t i, float* probs) {
  const float* z = static_cast<const float*>(args.logits) + i * args.row_stride;
  const int64_t len = args.valid_len ? args.valid_len[i] : args.vocab;
  double max = -INFINITY;
  for (int64_t j = 0; j < len; ++j) max = std::max(max, double{args.scale} * double{z[j]});
  double sum = 0;
  for (int64_t j = 0; j < len; ++j) sum += std::exp(double{args.scale} * double{z[j]} - max);
  const double lse = max == -INFINITY ? max : max + std::log(sum);
  for (int64_t j = 0; j < len; ++j)
    probs[j] = max == -INFINITY
                   ? 0.0f
                   : static_cast<float>(std::exp(double{args.scale} * double{z[j]} - lse));
  if (args.row_max) args.row_max[i] = static_cast<float>(max);
  if (args.lse) args.lse[i] = static_cast<float>(lse);
}

void select_row(const SoftmaxTopkArgs& args, int64_t i, const float* probs) {
  const int64_t len = args.valid_len ? args.valid_len[i] : args.vocab;
  std::vector<int32_t> order(static_cast<size_t>(len));
  std::iota(order.begin(), order.end(), 0);
  const int64_t count = std::min(args.k, len);
  const auto place = [&](int32_t j) { return std::isnan(probs[j]) ? -1.0f : probs[j]; };
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int32_t a, int32_t b) {
    return place(a) > place(b) || (place(a) == place(b) && a < b);
  });
  for (int64_t j = 0; j < args.k; ++j) {
    args.indices[i * args.k + j] = j < count ? order[j] : -1;
    args.probs[i * args.k + j] = j < count ? probs[order[j]] : 0.0f;
  }
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
  std::vector<float> probs(static_cast<size_t>(args->rows * args->vocab));
#pragma omp parallel for num_threads(args->num_threads)
  for (int64_t i = 0; i < args->rows; ++i) softmax_row(*args, i, probs.data() + i * args->vocab);
#pragma omp parallel for num_threads(args->num_threads)
  for (int64_t i = 0; i < args->rows; ++i) select_row(*args, i, probs.data() + i * args->vocab);
  return SOFTMAX_TOPK_OK;
}
