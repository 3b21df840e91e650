// strategy: blocks that stay and take rows in turn; nothing is saved, and statistics come from
// Welford's formula in float64; a row lies in shared memory where it fits; each block adds its rows
// to column sums of its own in global memory
// uses: saved_bytes may be 0: everything may be computed again in the backward pass
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cooperative_groups.h>

#include "common.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 64;
constexpr int kWarps = kThreads / 32;
constexpr int64_t kStagedCols = 20'000;  // 8 bytes each: what a block can have of shared memory
constexpr int64_t kLeastRows = 8;        // of a block: each costs sums of its own

struct Stats {
  double mean;
  float rstd;
};

// Of some numbers: how many, their mean, the sum of squared deviations from it.
struct Moments {
  double count, mean, squares;
};

__device__ Moments merged(const Moments& a, const Moments& b) {
  const double count = a.count + b.count;
  if (count == 0) return a;
  const double apart = b.mean - a.mean;
  const double share = b.count / count;
  return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
}

using Warp = cg::thread_block_tile<32>;

__device__ Moments row_moments(const Warp& warp, Moments own) {
  __shared__ Moments of_warps[kWarps];
  for (int lanes = 16; lanes > 0; lanes /= 2)
    own = merged(own, {warp.shfl_down(own.count, lanes), warp.shfl_down(own.mean, lanes),
                       warp.shfl_down(own.squares, lanes)});
  if (warp.thread_rank() == 0) of_warps[warp.meta_group_rank()] = own;
  __syncthreads();
  Moments all = of_warps[0];
  for (int w = 1; w < kWarps; ++w) all = merged(all, of_warps[w]);
  __syncthreads();
  return all;
}

// All threads of the block come here.
__device__ Stats stats_of(const LayernormArgs& a, const Warp& warp, int64_t i) {
  if (a.mean) return {a.mean[i], a.rstd[i]};
  const float* x = row_of(a.x, a.x_row_stride, i);
  Moments own{};
  for (int64_t j = threadIdx.x; j < a.cols; j += kThreads) {
    const double value = x[j];
    const double apart = value - own.mean;
    own.count += 1;
    own.mean += apart / own.count;
    own.squares += apart * (value - own.mean);
  }
  const Moments row = row_moments(warp, own);
  const double variance = row.squares / static_cast<double>(a.cols);
  return {row.mean, static_cast<float>(1 / sqrt(variance + a.eps))};
}

__global__ void forward(LayernormArgs a) {
  const Warp warp = cg::tiled_partition<32>(cg::this_thread_block());
  for (int64_t i = blockIdx.x; i < a.rows; i += gridDim.x) {
    const Stats stats = stats_of(a, warp, i);
    const float* x = row_of(a.x, a.x_row_stride, i);
    float* y = row_of(a.y, a.y_row_stride, i);
    for (int64_t j = threadIdx.x; j < a.cols; j += kThreads)
      y[j] = static_cast<float>(x[j] - stats.mean) * stats.rstd * gamma_of(a, j) + beta_of(a, j);
  }
}

// The sums of both over the block, for all of its threads.
__device__ float2 row_sums(const Warp& warp, float2 own) {
  __shared__ float2 of_warps[kWarps];
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    own.x += warp.shfl_down(own.x, lanes);
    own.y += warp.shfl_down(own.y, lanes);
  }
  if (warp.thread_rank() == 0) of_warps[warp.meta_group_rank()] = own;
  __syncthreads();
  float2 all = of_warps[0];
  for (int w = 1; w < kWarps; ++w) {
    all.x += of_warps[w].x;
    all.y += of_warps[w].y;
  }
  __syncthreads();
  return all;
}

// `sums` is [gridDim.x][cols], x for dgamma and y for dbeta. Each thread touches columns of its own
// only, in the staged row and in the sums.
__global__ void backward(LayernormArgs a, float2* sums, bool staged) {
  extern __shared__ float2 row[];  // xhat and w, of short rows
  const Warp warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float cols = static_cast<float>(a.cols);
  float2* const own = sums + blockIdx.x * a.cols;
  for (int64_t j = threadIdx.x; j < a.cols; j += kThreads) own[j] = make_float2(0, 0);
  for (int64_t i = blockIdx.x; i < a.rows; i += gridDim.x) {
    const float* x = row_of(a.x, a.x_row_stride, i);
    const float* dy = row_of(a.dy, a.dy_row_stride, i);
    const Stats stats = stats_of(a, warp, i);
    const auto xhat_of = [&](float value) {
      return static_cast<float>(value - stats.mean) * stats.rstd;
    };
    float2 mean = make_float2(0, 0);
    for (int64_t j = threadIdx.x; j < a.cols; j += kThreads) {
      const float xhat = xhat_of(x[j]);
      const float in = dy[j];
      const float w = in * gamma_of(a, j);
      if (staged) row[j] = make_float2(xhat, w);
      mean.x += w;
      mean.y += w * xhat;
      const float2 sum = own[j];
      own[j] = make_float2(sum.x + in * xhat, sum.y + in);
    }
    mean = row_sums(warp, mean);
    mean = make_float2(mean.x / cols, mean.y / cols);
    if (!a.dx) continue;
    float* dx = row_of(a.dx, a.dx_row_stride, i);
    for (int64_t j = threadIdx.x; j < a.cols; j += kThreads) {
      const float2 kept = staged ? row[j] : make_float2(xhat_of(x[j]), dy[j] * gamma_of(a, j));
      dx[j] = stats.rstd * (kept.y - mean.x - kept.x * mean.y);
    }
  }
}

// A thread for each column.
__global__ void add_blocks(LayernormArgs a, const float2* sums, int blocks) {
  const int64_t j = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (j >= a.cols) return;
  float2 total = make_float2(0, 0);
  for (int block = 0; block < blocks; ++block) {
    total.x += sums[block * a.cols + j].x;
    total.y += sums[block * a.cols + j].y;
  }
  if (a.dgamma) static_cast<float*>(a.dgamma)[j] = total.x;
  if (a.dbeta) static_cast<float*>(a.dbeta)[j] = total.y;
}

int multiprocessors() {
  cudaDeviceProp properties;
  return cudaGetDeviceProperties(&properties, 0) == cudaSuccess ? properties.multiProcessorCount
                                                                : 1;
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs*) {
  return 0;
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (const int64_t status = refusal(*args, Pass::forward); status != LAYERNORM_OK) return status;
  if (args->rows > 0 && args->y)
    forward<<<8 * multiprocessors(), kThreads, 0, static_cast<cudaStream_t>(args->stream)>>>(*args);
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (const int64_t status = refusal(*args, Pass::backward); status != LAYERNORM_OK) return status;
  const auto stream = static_cast<cudaStream_t>(args->stream);
  const bool staged = args->cols <= kStagedCols;
  const int blocks =
      static_cast<int>(std::clamp<int64_t>(args->rows / kLeastRows, 1, multiprocessors()));
  const int shared = staged ? static_cast<int>(args->cols * sizeof(float2)) : 0;
  cudaFuncSetAttribute(backward, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  float2* sums = nullptr;
  if (cudaMalloc(&sums, blocks * args->cols * sizeof(float2)) != cudaSuccess) return -3;
  backward<<<blocks, kThreads, shared, stream>>>(*args, sums, staged);
  const auto groups = static_cast<unsigned>((args->cols + kThreads - 1) / kThreads);
  add_blocks<<<groups, kThreads, 0, stream>>>(*args, sums, blocks);
  cudaStreamSynchronize(stream);
  cudaFree(sums);
  return LAYERNORM_OK;
}
