// strategy: a warp per row keeps a sorted list in shared memory, into which it inserts one by one
// uses: sums may be taken in any order, so that lse and probs differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common.cuh"

namespace {

constexpr int kWarps = 4;   // of a block
constexpr int kList = 256;  // winners that a launch finds
constexpr unsigned kAll = ~0u;

/// Puts a key where it belongs in a descending list; the last one falls out. From the end on, 32
/// places at a time: what moves out of them has gone before something moves in.
__device__ void insert(Key* list, int count, Key key) {
  const int lane = threadIdx.x % 32;
  for (int begin = (count - 1) / 32 * 32; begin >= 0; begin -= 32) {
    const int place = begin + lane;
    const Key here = place < count ? list[place] : 0;
    const Key before = place > 0 && place < count ? list[place - 1] : ~Key{0};
    __syncwarp();
    if (place < count && here < key) list[place] = before < key ? before : key;
    __syncwarp();
  }
}

/// Reads entry `at` for its lane, if the row has it, and counts it in the lane's sum.
__device__ Key next_key(const float* z, int64_t at, int64_t length, float scale, Softmax& softmax) {
  if (at >= length) return 0;
  softmax.add(z[at], scale);
  return key_of(z[at], at);
}

__global__ void warp_rows(SoftmaxTopkArgs args, Window window) {
  __shared__ Key lists[kWarps][kList];
  const int lane = threadIdx.x % 32;
  const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (row >= args.rows) return;
  Key* const list = lists[threadIdx.x / 32];
  for (int place = lane; place < window.columns; place += 32) list[place] = 0;
  __syncwarp();

  const float* z = row_of(args, row);
  const int64_t length = length_of(args, row);
  const Key bound = bound_of(args, row, window);
  Key least = 0;
  Softmax softmax;
  for (int64_t begin = 0; begin < length; begin += 32) {
    const Key mine = next_key(z, begin + lane, length, args.scale, softmax);
    unsigned better = __ballot_sync(kAll, mine > least && mine < bound);
    while (better != 0) {
      insert(list, window.columns, __shfl_sync(kAll, mine, __ffs(better) - 1));
      least = list[window.columns - 1];
      better &= better - 1;
      better &= __ballot_sync(kAll, mine > least);
    }
  }
  softmax = merged_in_warp(softmax, args.scale);
  for (int place = lane; place < window.columns; place += 32)
    write_winner(args, row, window.first + place, list[place], softmax);
  if (lane == 0 && window.first == 0) softmax.write_totals(args, row);
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (const int64_t status = refusal(*args); status != SOFTMAX_TOPK_OK) return status;
  if (args->rows == 0) return SOFTMAX_TOPK_OK;
  const auto blocks = static_cast<unsigned>((args->rows + kWarps - 1) / kWarps);
  const auto stream = static_cast<cudaStream_t>(args->stream);
  for (int64_t first = 0; first < args->k; first += kList) {
    const Window window{first, static_cast<int>(std::min<int64_t>(kList, args->k - first))};
    warp_rows<<<blocks, 32 * kWarps, 0, stream>>>(*args, window);
  }
  return cudaGetLastError();
}
