// SPDX-License-Identifier: Apache-2.0
// The forward pass: statistics, and y where it is wanted.
#pragma once

#include "rows.cuh"

namespace {

__device__ RowStats row_stats(float mean, float carry, float squares, const LayernormArgs& args) {
  const double variance = squares / static_cast<float>(args.cols);
  return {mean, carry, static_cast<float>(1 / sqrt(variance + args.eps))};
}

__device__ void put_y(const LayernormArgs& args, const RowStats& row, int64_t i, int64_t j,
                      float x) {
  const auto* beta = static_cast<const float*>(args.beta);
  static_cast<float*>(args.y)[i * args.y_row_stride + j] =
      fmaf(or_one(args.gamma, j), row.xhat(x), beta != nullptr ? beta[j] : 0.0f);
}

// A row's thread t holds columns t, t + kGroup, ... Blocks take rows in turn.
template <int kGroup, int kHeld>
__global__ void __launch_bounds__(block_threads(kGroup)) forward_held(LayernormArgs args) {
  constexpr int kRows = block_threads(kGroup) / kGroup;
  const int t = threadIdx.x % kGroup;
  const float cols = static_cast<float>(args.cols);
  for (int64_t base = int64_t{blockIdx.x} * kRows; base < args.rows;
       base += int64_t{gridDim.x} * kRows) {
    const int64_t i = base + threadIdx.x / kGroup;
    const int64_t width = i < args.rows ? args.cols : 0;
    const float* from = static_cast<const float*>(args.x) + i * args.x_row_stride;
    float x[kHeld];
    float sum = 0, rest = 0, squares = 0;
    for (int k = 0; k < kHeld; ++k) sum += x[k] = t + k * kGroup < width ? from[t + k * kGroup] : 0;
    const float mean = row_sum<kGroup>(sum) / cols;
    for (int k = 0; k < kHeld; ++k) rest += t + k * kGroup < width ? x[k] - mean : 0;
    const float carry = row_sum<kGroup>(rest) / cols;
    for (int k = 0; k < kHeld; ++k) {
      const float d = t + k * kGroup < width ? (x[k] - mean) - carry : 0;
      squares = fmaf(d, d, squares);
    }
    const RowStats row = row_stats(mean, carry, row_sum<kGroup>(squares), args);
    if (width > 0 && t == 0 && args.saved_out != nullptr)
      static_cast<RowStats*>(args.saved_out)[i] = row;
    if (args.y == nullptr) continue;
    for (int k = 0; k < kHeld; ++k)
      if (t + k * kGroup < width) put_y(args, row, i, t + k * kGroup, x[k]);
  }
}

__global__ void __launch_bounds__(kLong) forward_long(LayernormArgs args) {
  const float cols = static_cast<float>(args.cols);
  for (int64_t i = blockIdx.x; i < args.rows; i += gridDim.x) {
    const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
    float sum = 0, rest = 0, squares = 0;
    for (int64_t j = threadIdx.x; j < args.cols; j += kLong) sum += x[j];
    const float mean = row_sum<kLong>(sum) / cols;
    for (int64_t j = threadIdx.x; j < args.cols; j += kLong) {
      const float d = x[j] - mean;
      rest += d;
      squares = fmaf(d, d, squares);
    }
    const Pair sums = row_sums<kLong>({rest, squares});
    const float carry = sums.a / cols;  // so small that its square loses nothing
    const RowStats row = row_stats(mean, carry, fmaxf(0, sums.b - sums.a * carry), args);
    if (threadIdx.x == 0 && args.saved_out != nullptr)
      static_cast<RowStats*>(args.saved_out)[i] = row;
    if (args.y == nullptr) continue;
    for (int64_t j = threadIdx.x; j < args.cols; j += kLong) put_y(args, row, i, j, x[j]);
  }
}

}  // namespace
