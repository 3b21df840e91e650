// SPDX-License-Identifier: Apache-2.0
// What both passes know of a row, and sums over the threads that share one.
#pragma once

#include <algorithm>

#include "contract.h"

namespace {

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffffu;

// What forward leaves for backward, per row: mean + carry is the mean to about 48 bits. Aligned so
// that one load fetches it.
struct alignas(16) RowStats {
  float mean;
  float carry;
  float rstd;

  __device__ float xhat(float x) const { return ((x - mean) - carry) * rstd; }
};

__device__ float or_one(const void* gamma, int64_t j) {
  return gamma != nullptr ? static_cast<const float*>(gamma)[j] : 1.0f;
}

__device__ RowStats stats_for(const LayernormArgs& args, int64_t i) {
  if (args.mean != nullptr) return {args.mean[i], 0.0f, args.rstd[i]};
  return static_cast<const RowStats*>(args.saved_in)[i];
}

// So many threads work on a row: some lanes of a warp, or a whole block.
__host__ __device__ constexpr int block_threads(int group) {
  return group > kWarp ? group : 256;
}

struct alignas(8) Pair {
  float a;
  float b;
};

// The sums over the threads of a row, for each of them. All threads of the block come here.
template <int kGroup>
__device__ Pair row_sums(Pair sum) {
  for (int lanes = (kGroup < kWarp ? kGroup : kWarp) / 2; lanes > 0; lanes /= 2) {
    sum.a += __shfl_xor_sync(kAll, sum.a, lanes);
    sum.b += __shfl_xor_sync(kAll, sum.b, lanes);
  }
  if constexpr (kGroup > kWarp) {
    __shared__ Pair of_warps[kGroup / kWarp];
    __syncthreads();  // the sums of the time before have been read
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = sum;
    __syncthreads();
    sum = of_warps[0];
    for (int warp = 1; warp < kGroup / kWarp; ++warp) {
      sum.a += of_warps[warp].a;
      sum.b += of_warps[warp].b;
    }
  }
  return sum;
}

template <int kGroup>
__device__ float row_sum(float sum) {
  return row_sums<kGroup>({sum, 0.0f}).a;
}

// Threads of a block that works on a row which none can hold.
constexpr int kLong = 1024;

}  // namespace
