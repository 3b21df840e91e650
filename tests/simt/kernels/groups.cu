// SPDX-License-Identifier: Apache-2.0
// Cooperative groups of a block, and what lanes tell each other without them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void groups(const int* in, int* out, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto tile = cg::tiled_partition<8>(warp);
  const int i = block.thread_rank();
  const int value = in[i];
  out[i] = cg::reduce(warp, value, cg::plus<int>());
  out[n + i] = cg::reduce(tile, value, cg::greater<int>());
  out[2 * n + i] = tile.shfl(value, 3) * 100 + tile.thread_rank();
  if (value % 3 == 0) {
    const cg::coalesced_group some = cg::coalesced_threads();
    out[3 * n + i] = some.thread_rank() * 100 + some.num_threads();
  } else {
    out[3 * n + i] = -1;
  }
  block.sync();
  out[4 * n + i] = __popc(__match_any_sync(0xffffffffu, value % 4));
  out[5 * n + i] = __reduce_max_sync(0xffffffffu, value);
  out[6 * n + i] = __shfl_up_sync(0xffffffffu, value, 3);
  out[7 * n + i] = __shfl_down_sync(0xffffffffu, value, 5, 16);
  out[8 * n + i] = __ballot_sync(0xffffffffu, value & 1);
  out[9 * n + i] = __syncthreads_count(value & 1);
  out[10 * n + i] = __syncthreads_and(value >= 0) * 2 + __syncthreads_or(value == 7);
}
