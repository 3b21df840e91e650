// SPDX-License-Identifier: Apache-2.0
// Kernels that are right with every order of blocks and warps, each by another way of keeping
// threads apart. All compute the sums of 1000 words: out[i] of x[0] to x[i], or out[0] of all.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

using Words = unsigned;

/// The tree ends within a warp, where __syncwarp is enough.
__global__ void reduction(const Words* x, Words* out, unsigned n) {
  __shared__ Words tree[256];
  Words sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += 256) sum += x[i];
  tree[threadIdx.x] = sum;
  for (unsigned half = 128; half >= 32; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
  }
  if (threadIdx.x >= 32) return;
  for (unsigned half = 16; half > 0; half /= 2) {
    __syncwarp();
    const Words other = threadIdx.x < half ? tree[threadIdx.x + half] : 0;
    __syncwarp();
    tree[threadIdx.x] += other;
  }
  if (threadIdx.x == 0) out[0] = tree[0];
}

/// In one block of 1024 threads, between two buffers by turns.
__global__ void block_scan(const Words* x, Words* out, unsigned n) {
  __shared__ Words turns[2][1024];
  int now = 0;
  turns[now][threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0;
  __syncthreads();
  for (unsigned distance = 1; distance < 1024; distance *= 2) {
    Words sum = turns[now][threadIdx.x];
    if (threadIdx.x >= distance) sum += turns[now][threadIdx.x - distance];
    turns[1 - now][threadIdx.x] = sum;
    now = 1 - now;
    __syncthreads();
  }
  if (threadIdx.x < n) out[threadIdx.x] = turns[now][threadIdx.x];
}

/// By shuffles within warps, and of their sums by the first warp.
__global__ void warp_scan(const Words* x, Words* out, unsigned n) {
  __shared__ Words sums[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const auto scan = [&](Words value) {
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const Words other = __shfl_up_sync(0xffffffffu, value, distance);
      if (lane >= distance) value += other;
    }
    return value;
  };
  Words value = scan(threadIdx.x < n ? x[threadIdx.x] : 0);
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  if (warp == 0) sums[lane] = scan(sums[lane]);
  __syncthreads();
  if (warp > 0) value += sums[warp - 1];
  if (threadIdx.x < n) out[threadIdx.x] = value;
}

/// Tiles of 8 threads add up, and the first of each adds to the whole.
__global__ void groups(const Words* x, Words* out, unsigned n) {
  namespace cg = cooperative_groups;
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const Words sum = cg::reduce(tile, i < n ? x[i] : 0, cg::plus<Words>());
  if (tile.thread_rank() == 0) atomicAdd(out, sum);
}

/// Each thread takes a ticket; who has which is not said, the sum is.
__global__ void tickets(const Words* x, Words* out, unsigned n) {
  __shared__ Words next, sum;
  if (threadIdx.x == 0) next = sum = 0;
  __syncthreads();
  for (unsigned mine = atomicAdd(&next, 1); mine < n; mine = atomicAdd(&next, 1))
    atomicAdd(&sum, x[mine]);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum;
}

__device__ Words next_part, done_parts, parts[64];

/// Blocks that stay take parts of 32 words in turn; the last one that is done adds them up, and
/// leaves everything as it was.
__global__ void persistent_grid(const Words* x, Words* out, unsigned n) {
  __shared__ Words part, is_last;
  const unsigned all = (n + 31) / 32;
  while (true) {
    if (threadIdx.x == 0) part = atomicAdd(&next_part, 1);
    __syncthreads();
    const unsigned mine = part;
    __syncthreads();
    if (mine >= all) break;
    const unsigned i = mine * 32 + threadIdx.x;
    const Words sum = __reduce_add_sync(0xffffffffu, i < n ? x[i] : 0);
    if (threadIdx.x == 0) parts[mine] = sum;
  }
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(&done_parts, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x > 0) return;
  __threadfence();
  Words sum = 0;
  for (unsigned k = 0; k < all; ++k) sum += parts[k];
  out[0] = sum;
  next_part = done_parts = 0;
}
