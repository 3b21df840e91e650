// Fused softmax + top-k: one warp per row. Every lane keeps its best candidates in registers and its
// own running max and sum, then the warp merges them.
#include <cstdint>

#include "contract.h"

namespace {

constexpr int kPerLane = 8;
constexpr int kWarps = 8;
constexpr float kLowest = -1e30f;

struct Lane {
  float value[kPerLane];
  int index[kPerLane];
  float max = kLowest;
  float sum = 0;

  __device__ void insert(float v, int i) {
    if (v <= value[kPerLane - 1]) return;
    int at = kPerLane - 1;
    while (at > 0 && v > value[at - 1]) {
      value[at] = value[at - 1];
      index[at] = index[at - 1];
      --at;
    }
    value[at] = v;
    index[at] = i;
  }

  __device__ void add(float v) {
    if (v > max) {
      sum *= __expf(max - v);
      max = v;
    }
    sum += __expf(v - max);
  }
};

__global__ void softmax_topk_kernel(SoftmaxTopkArgs args) {
  __shared__ float row_max[kWarps], row_sum[kWarps];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * kWarps + warp;
  if (row >= args.rows) return;
  const float* z = (const float*)args.logits + row * (int)args.row_stride;
  const int len = args.valid_len ? (int)args.valid_len[row] : (int)args.vocab;

  Lane best;
  for (int n = 0; n < kPerLane; ++n) {
    best.value[n] = kLowest;
    best.index[n] = -1;
  }
  for (int i = lane; i < len; i += 32) {
    best.add(z[i] * args.scale);
    best.insert(z[i], i);
  }

  float max = best.max;
  for (int d = 16; d > 0; d /= 2) max = fmaxf(max, __shfl_xor_sync(0xffffffff, max, d));
  float sum = best.sum * __expf(best.max - max);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (lane == 0) {
    row_max[warp] = max;
    row_sum[warp] = sum;
  }

  // k times: the best of all lanes' first candidates wins, and its lane moves on.
  int next = 0;
  for (int j = 0; j < args.k; ++j) {
    float v = next < kPerLane ? best.value[next] : kLowest;
    int i = next < kPerLane ? best.index[next] : -1;
    int owner = lane;
    for (int d = 16; d > 0; d /= 2) {
      const float other = __shfl_xor_sync(0xffffffff, v, d);
      const int other_index = __shfl_xor_sync(0xffffffff, i, d);
      const int other_owner = __shfl_xor_sync(0xffffffff, owner, d);
      if (other > v || (other == v && other_index < i)) {
        v = other;
        i = other_index;
        owner = other_owner;
      }
    }
    if (lane == owner) ++next;
    if (lane == 0) {
      args.indices[row * args.k + j] = i;
      args.probs[row * args.k + j] = __expf(v * args.scale - row_max[warp]) / row_sum[warp];
    }
  }
  if (lane == 1) {
    if (args.lse) args.lse[row] = row_max[warp] + logf(row_sum[warp]);
    if (args.row_max) args.row_max[row] = row_max[warp];
  }
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (args->data_type != SOFTMAX_TOPK_F32 || args->device != SOFTMAX_TOPK_CUDA)
    return SOFTMAX_TOPK_UNSUPPORTED;
  if (args->k < 1 || args->k > args->vocab || args->rows < 0) return SOFTMAX_TOPK_BAD_ARGUMENT;
  const int blocks = (int)((args->rows + kWarps - 1) / kWarps);
  softmax_topk_kernel<<<blocks, 32 * kWarps, 0, (cudaStream_t)args->stream>>>(*args);
  return SOFTMAX_TOPK_OK;
}
