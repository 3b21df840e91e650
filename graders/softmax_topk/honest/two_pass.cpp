// strategy: two passes for the softmax in float64, then nth_element over indices and a sort
// uses: results may be nearer to the formulas than float32 sums are
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "common.h"

namespace {

struct Row {
  const float* z;
  int64_t len;
};

// NaN after everything else, so that the order stays one.
bool before(const Row& row, int32_t a, int32_t b) {
  const float za = row.z[a];
  const float zb = row.z[b];
  if (std::isnan(za) || std::isnan(zb)) {
    if (std::isnan(za) != std::isnan(zb)) return std::isnan(zb);
    return a < b;
  }
  return za > zb || (za == zb && a < b);
}

std::vector<int32_t> best_of(const Row& row, int64_t k) {
  constexpr int64_t kPiece = 16'384;  // and k: many threads may not hold a long row each
  std::vector<int32_t> order;
  const auto less = [&row](int32_t a, int32_t b) { return before(row, a, b); };
  const auto cut = [&] {
    std::nth_element(order.begin(), order.begin() + k, order.end(), less);
    order.resize(static_cast<size_t>(k));
  };
  for (int64_t j = 0; j < row.len; ++j) {
    if (std::ssize(order) > k + kPiece) cut();
    order.push_back(static_cast<int32_t>(j));
  }
  if (k < std::ssize(order)) cut();
  std::sort(order.begin(), order.end(), less);
  return order;
}

struct Softmax {
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
};

Softmax softmax_of(const Row& row, double scale) {
  Softmax made;
  for (int64_t j = 0; j < row.len; ++j) made.max = std::max(made.max, scale * double{row.z[j]});
  if (std::isinf(made.max)) return made;
  for (int64_t j = 0; j < row.len; ++j) made.sum += std::exp(scale * double{row.z[j]} - made.max);
  return made;
}

void write_row(const SoftmaxTopkArgs& args, int64_t i) {
  const Row row{static_cast<const float*>(args.logits) + i * args.row_stride,
                args.valid_len ? args.valid_len[i] : args.vocab};
  const double scale = args.scale;
  const Softmax softmax = softmax_of(row, scale);
  const std::vector<int32_t> best = best_of(row, args.k);
  for (int64_t j = 0; j < args.k; ++j) {
    const bool known = j < static_cast<int64_t>(best.size());
    args.indices[i * args.k + j] = known ? best[j] : -1;
    args.probs[i * args.k + j] =
        known && softmax.sum > 0
            ? static_cast<float>(std::exp(scale * double{row.z[best[j]]} - softmax.max) /
                                 softmax.sum)
            : 0.0f;
  }
  if (args.row_max) args.row_max[i] = static_cast<float>(softmax.max);
  if (args.lse) args.lse[i] = static_cast<float>(softmax.max + std::log(softmax.sum));
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (const int64_t status = refusal(*args); status != SOFTMAX_TOPK_OK) return status;
#pragma omp parallel for num_threads(args->num_threads) schedule(dynamic)
  for (int64_t i = 0; i < args->rows; ++i) write_row(*args, i);
  return SOFTMAX_TOPK_OK;
}
