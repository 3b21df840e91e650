// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fused {

/// Threads that work on a row together: a block.
struct BlockTeam {
  static constexpr int kThreads = 256;
  static constexpr int kTeams = 1;  // in a block
  static constexpr int kItems = 4;  // entries that a thread reads at a time

  __device__ __forceinline__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ __forceinline__ static int number() { return 0; }  // of the team in its block
  __device__ __forceinline__ static void sync() { __syncthreads(); }
  __device__ __forceinline__ static bool any(bool mine) { return __syncthreads_or(mine) != 0; }

  /// The value that comes of all threads' values, in the same order in every run.
  template <class T, class Join>
  __device__ __forceinline__ static T joined(T value, Join join) {
    __shared__ T of_warp[kThreads / 32];
    for (int lanes = 16; lanes > 0; lanes /= 2)
      value = join(value, __shfl_xor_sync(~0u, value, lanes));
    if (rank() % 32 == 0) of_warp[rank() / 32] = value;
    sync();
    value = of_warp[0];
    for (int warp = 1; warp < kThreads / 32; ++warp) value = join(value, of_warp[warp]);
    sync();
    return value;
  }
};

/// The same: a warp, of which there are several in a block.
struct WarpTeam {
  static constexpr int kThreads = 32;
  static constexpr int kTeams = 4;
  static constexpr int kItems = 2;

  __device__ __forceinline__ static int rank() { return static_cast<int>(threadIdx.x % 32); }
  __device__ __forceinline__ static int number() { return static_cast<int>(threadIdx.x / 32); }
  __device__ __forceinline__ static void sync() { __syncwarp(); }
  __device__ __forceinline__ static bool any(bool mine) { return __any_sync(~0u, mine) != 0; }

  template <class T, class Join>
  __device__ __forceinline__ static T joined(T value, Join join) {
    for (int lanes = 16; lanes > 0; lanes /= 2)
      value = join(value, __shfl_xor_sync(~0u, value, lanes));
    return value;
  }
};

}  // namespace fused
