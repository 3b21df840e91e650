// SPDX-License-Identifier: Apache-2.0
// The backward pass: dx, and what each block adds to dgamma and dbeta.
#pragma once

#include "rows.cuh"

namespace {

__device__ void put_dx(const LayernormArgs& args, const RowStats& row, const Pair& mean, int64_t i,
                       int64_t j, float w, float xhat) {
  static_cast<float*>(args.dx)[i * args.dx_row_stride + j] =
      row.rstd * ((w - mean.a) - xhat * mean.b);
}

// Sums over rows of dy * xhat and of dy that a block leaves: `parts` is [gridDim.x][cols].
template <int kGroup, int kHeld>
__device__ void leave_parts(const Pair (&sums)[kHeld], int64_t cols, Pair* parts) {
  constexpr int kRows = block_threads(kGroup) / kGroup;
  const int t = threadIdx.x % kGroup;
  Pair* const part = parts + blockIdx.x * cols;
  if constexpr (kRows == 1) {
    for (int k = 0; k < kHeld; ++k)
      if (t + k * kGroup < cols) part[t + k * kGroup] = sums[k];
    return;
  }
  __shared__ Pair of_rows[kRows][kGroup];
  for (int k = 0; k < kHeld; ++k) {
    __syncthreads();  // the columns before have been added up
    of_rows[threadIdx.x / kGroup][t] = sums[k];
    __syncthreads();
    if (threadIdx.x >= kGroup || t + k * kGroup >= cols) continue;
    Pair total = of_rows[0][t];
    for (int row = 1; row < kRows; ++row) {
      total.a += of_rows[row][t].a;
      total.b += of_rows[row][t].b;
    }
    part[t + k * kGroup] = total;
  }
}

template <int kGroup, int kHeld>
__global__ void __launch_bounds__(block_threads(kGroup))
    backward_held(LayernormArgs args, Pair* parts) {
  constexpr int kRows = block_threads(kGroup) / kGroup;
  const int t = threadIdx.x % kGroup;
  const float cols = static_cast<float>(args.cols);
  Pair sums[kHeld]{};
  for (int64_t base = int64_t{blockIdx.x} * kRows; base < args.rows;
       base += int64_t{gridDim.x} * kRows) {
    const int64_t i = base + threadIdx.x / kGroup;
    const int64_t width = i < args.rows ? args.cols : 0;
    const RowStats row = width > 0 ? stats_for(args, i) : RowStats{};
    const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
    const float* dy = static_cast<const float*>(args.dy) + i * args.dy_row_stride;
    float w[kHeld], xhat[kHeld];
    Pair mean{};
    for (int k = 0; k < kHeld; ++k) {
      const int j = t + k * kGroup;
      if (j >= width) continue;
      const float in = dy[j];
      xhat[k] = row.xhat(x[j]);
      w[k] = in * or_one(args.gamma, j);
      sums[k].a = fmaf(in, xhat[k], sums[k].a);
      sums[k].b += in;
      mean.a += w[k];
      mean.b = fmaf(w[k], xhat[k], mean.b);
    }
    if (args.dx == nullptr) continue;
    mean = row_sums<kGroup>(mean);
    mean = {mean.a / cols, mean.b / cols};
    for (int k = 0; k < kHeld; ++k)
      if (t + k * kGroup < width) put_dx(args, row, mean, i, t + k * kGroup, w[k], xhat[k]);
  }
  leave_parts<kGroup, kHeld>(sums, args.cols, parts);
}

// Of long rows first the means of w and of w * xhat ...
__global__ void __launch_bounds__(kLong) means_long(LayernormArgs args, Pair* means) {
  const float cols = static_cast<float>(args.cols);
  for (int64_t i = blockIdx.x; i < args.rows; i += gridDim.x) {
    const RowStats row = stats_for(args, i);
    const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
    const float* dy = static_cast<const float*>(args.dy) + i * args.dy_row_stride;
    Pair sums{};
    for (int64_t j = threadIdx.x; j < args.cols; j += kLong) {
      const float w = dy[j] * or_one(args.gamma, j);
      sums.a += w;
      sums.b = fmaf(w, row.xhat(x[j]), sums.b);
    }
    sums = row_sums<kLong>(sums);
    if (threadIdx.x == 0) means[i] = {sums.a / cols, sums.b / cols};
  }
}

// ... then, a thread for each column of a share of the rows, all the rest.
constexpr int kColumnThreads = 256;
__global__ void __launch_bounds__(kColumnThreads)
    backward_long(LayernormArgs args, const Pair* means, Pair* parts) {
  const int64_t j = int64_t{blockIdx.x} * kColumnThreads + threadIdx.x;
  if (j >= args.cols) return;
  const float gamma = or_one(args.gamma, j);
  const auto* x = static_cast<const float*>(args.x);
  const auto* dy = static_cast<const float*>(args.dy);
  Pair sums{};
  for (int64_t i = blockIdx.y; i < args.rows; i += gridDim.y) {
    const RowStats row = stats_for(args, i);
    const float in = dy[i * args.dy_row_stride + j];
    const float xhat = row.xhat(x[i * args.x_row_stride + j]);
    sums.a = fmaf(in, xhat, sums.a);
    sums.b += in;
    if (args.dx != nullptr) put_dx(args, row, means[i], i, j, in * gamma, xhat);
  }
  parts[blockIdx.y * args.cols + j] = sums;
}

// dgamma and dbeta from what blocks left, 32 columns a block, in the order of the parts.
constexpr int kPartRows = 8;
__global__ void __launch_bounds__(kWarp* kPartRows)
    add_parts(LayernormArgs args, const Pair* parts, int count) {
  __shared__ Pair of_rows[kPartRows][kWarp];
  for (int64_t first = int64_t{blockIdx.x} * kWarp; first < args.cols;
       first += int64_t{gridDim.x} * kWarp) {
    const int64_t j = first + threadIdx.x;
    Pair sum{};
    for (int part = threadIdx.y; part < count && j < args.cols; part += kPartRows) {
      sum.a += parts[part * args.cols + j].a;
      sum.b += parts[part * args.cols + j].b;
    }
    __syncthreads();  // the columns before have been added up
    of_rows[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || j >= args.cols) continue;
    for (int row = 1; row < kPartRows; ++row) {
      sum.a += of_rows[row][threadIdx.x].a;
      sum.b += of_rows[row][threadIdx.x].b;
    }
    if (args.dgamma != nullptr) static_cast<float*>(args.dgamma)[j] = sum.a;
    if (args.dbeta != nullptr) static_cast<float*>(args.dbeta)[j] = sum.b;
  }
}

}  // namespace
