// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "keys.cuh"

namespace fused {

/// Bitonic sorts into descending order, by all threads of a team.

/// Of 32 keys, one for each lane of a warp, without memory.
__device__ __forceinline__ Key sorted_in_warp(Key mine) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int run = 2; run <= 32; run *= 2)
#pragma unroll
    for (int gap = run / 2; gap > 0; gap /= 2) {
      const Key other = __shfl_xor_sync(~0u, mine, gap);
      const bool takes_larger = ((lane & gap) == 0) == ((lane & run) == 0);
      if ((other > mine) == takes_larger) mine = other;
    }
  return mine;
}

/// The gaps from gap << (kBits - 1) down to gap, for 2^kBits keys that are a gap apart: all that is
/// compared among these is in registers of one thread.
template <int kBits>
__device__ __forceinline__ void sort_step(Key* keys, int group, int gap, int run) {
  constexpr int kKeys = 1 << kBits;
  const int base = ((group & ~(gap - 1)) << kBits) | (group & (gap - 1));
  const bool descends = (base & run) == 0;
  Key own[kKeys];
#pragma unroll
  for (int n = 0; n < kKeys; ++n) own[n] = keys[base + n * gap];
#pragma unroll
  for (int half = kKeys / 2; half > 0; half /= 2)
#pragma unroll
    for (int n = 0; n < kKeys; ++n) {
      if ((n & half) != 0) continue;
      const Key first = own[n], second = own[n + half];
      const bool swaps = (first < second) == descends;
      own[n] = swaps ? second : first;
      own[n + half] = swaps ? first : second;
    }
#pragma unroll
  for (int n = 0; n < kKeys; ++n) keys[base + n * gap] = own[n];
}

template <class Team, int kBits>
__device__ __forceinline__ void sort_steps(Key* keys, int count, int gap, int run) {
  Team::sync();
  for (int group = Team::rank(); group < count >> kBits; group += Team::kThreads)
    sort_step<kBits>(keys, group, gap, run);
}

/// Of `count` keys in shared memory, a power of two and 32 at least.
/// Not in line: it is large, and its callers keep what they need in registers.
template <class Team>
__device__ __noinline__ void sort_keys(Key* keys, int count) {
  if (count == 32) {
    Team::sync();
    if (Team::rank() < 32) keys[Team::rank()] = sorted_in_warp(keys[Team::rank()]);
  } else {
    for (int run = 2; run <= count; run *= 2)
      for (int gap = run / 2; gap > 0;) {
        // Three gaps at a time; where their number is no multiple of three, fewer at first.
        const int bits = (__ffs(gap) - 1) % 3;
        if (bits == 0) sort_steps<Team, 1>(keys, count, gap, run);
        if (bits == 1) sort_steps<Team, 2>(keys, count, gap / 2, run);
        if (bits == 2) sort_steps<Team, 3>(keys, count, gap / 4, run);
        gap >>= bits + 1;
      }
  }
  Team::sync();
}

}  // namespace fused
