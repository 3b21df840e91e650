// strategy: a block per row; each thread has the best few of its entries at hand, a tournament of
// threads picks winner after winner, and who has no more at hand looks through its entries again
// uses: sums may be taken in any order, so that lse and probs differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include "common.cuh"

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kHand = 4;
constexpr int64_t kMostBlocks = 864;  // further rows come in turn

/// The best entries of a thread that it has not played yet, best first.
struct Hand {
  Key keys[kHand] = {};
  bool has_more = false;  // entries that there was no room for

  __device__ void take(Key key) {
    if (key <= keys[kHand - 1]) {
      has_more = true;
      return;
    }
    has_more |= keys[kHand - 1] != 0;
    for (int n = kHand - 1; n > 0; --n)
      keys[n] = key > keys[n - 1] ? keys[n - 1] : key > keys[n] ? key : keys[n];
    if (key > keys[0]) keys[0] = key;
  }

  __device__ void play() {
    for (int n = 1; n < kHand; ++n) keys[n - 1] = keys[n];
    keys[kHand - 1] = 0;
  }

  /// From the entries of this thread that come behind `last`.
  __device__ void refill(const float* z, int64_t length, Key last) {
    has_more = false;
    for (int64_t at = threadIdx.x; at < length; at += kThreads)
      if (const Key key = key_of(z[at], at); key < last) take(key);
  }
};

__device__ Key larger(Key a, Key b) {
  return a > b ? a : b;
}

/// The best key at hand in the block.
__device__ Key tournament(Key mine, Key (&best)[kWarps]) {
  for (int lanes = 16; lanes > 0; lanes /= 2)
    mine = larger(mine, __shfl_xor_sync(~0u, mine, lanes));
  if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = mine;
  __syncthreads();
  for (int warp = 0; warp < kWarps; ++warp) mine = larger(mine, best[warp]);
  return mine;
}

__device__ Softmax merged_in_block(Softmax mine, float scale, float (&maxima)[kWarps],
                                   double (&sums)[kWarps]) {
  mine = merged_in_warp(mine, scale);
  if (threadIdx.x % 32 == 0) {
    maxima[threadIdx.x / 32] = mine.max;
    sums[threadIdx.x / 32] = mine.sum;
  }
  __syncthreads();
  Softmax all;
  for (int warp = 0; warp < kWarps; ++warp) all.merge({maxima[warp], sums[warp]}, scale);
  return all;
}

__device__ void solve_row(const SoftmaxTopkArgs& args, int64_t row) {
  __shared__ Key best[2][kWarps];  // in turn, so that one barrier a round is enough
  __shared__ float maxima[kWarps];
  __shared__ double sums[kWarps];
  const float* z = row_of(args, row);
  const int64_t length = length_of(args, row);
  Hand hand;
  Softmax softmax;
  for (int64_t at = threadIdx.x; at < length; at += kThreads) {
    softmax.add(z[at], args.scale);
    hand.take(key_of(z[at], at));
  }
  softmax = merged_in_block(softmax, args.scale, maxima, sums);
  for (int64_t column = 0; column < args.k; ++column) {
    const Key winner = tournament(hand.keys[0], best[column % 2]);
    if (threadIdx.x == 0) write_winner(args, row, column, winner, softmax);
    if (winner == 0 || winner != hand.keys[0]) continue;
    hand.play();
    if (hand.keys[0] == 0 && hand.has_more) hand.refill(z, length, winner);
  }
  if (threadIdx.x == 0) softmax.write_totals(args, row);
}

__global__ void block_rows(SoftmaxTopkArgs args) {
  for (int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) solve_row(args, row);
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (const int64_t status = refusal(*args); status != SOFTMAX_TOPK_OK) return status;
  if (args->rows == 0) return SOFTMAX_TOPK_OK;
  const auto blocks = static_cast<unsigned>(args->rows < kMostBlocks ? args->rows : kMostBlocks);
  block_rows<<<blocks, kThreads, 0, static_cast<cudaStream_t>(args->stream)>>>(*args);
  return cudaGetLastError();
}
