// uses: what the saved bytes mean is the solution's choice, and results may be nearer to the
// formulas than float32 sums are
// SPDX-License-Identifier: Apache-2.0
// Layer normalisation at the speed of a GPU's memory. Rows of up to 8192 columns (forward: 32768)
// stay in registers, so that x and dy are read once; longer ones are read twice. Column sums are
// kept by each block for its rows and added up by a second kernel, always in the same order.
//
// The mean is kept as a pair of floats, whose second half is what the first one rounds off. Rows
// promise no alignment beyond an element, so that loads are of one element a lane, side by side.
#include <algorithm>
#include <cmath>

#include "backward.cuh"
#include "contract.h"
#include "forward.cuh"

namespace {

int multiprocessors() {
  int device = 0, count = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

// Blocks for so much independent work: no more than the device has room for.
int blocks_for(int64_t work, int a_multiprocessor) {
  return static_cast<int>(
      std::max<int64_t>(1, std::min<int64_t>(work, a_multiprocessor * multiprocessors())));
}

// Device memory for the time of a call, in the order of its stream.
class Scratch {
 public:
  Scratch(int64_t pairs, cudaStream_t stream) : stream_(stream) {
    const size_t bytes = std::max<int64_t>(pairs, 1) * sizeof(Pair);
    if (cudaMallocAsync(&at_, bytes, stream) != cudaSuccess) at_ = nullptr;
  }
  ~Scratch() {
    if (at_ != nullptr) cudaFreeAsync(at_, stream_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Pair* get() const { return at_; }

 private:
  Pair* at_ = nullptr;
  cudaStream_t stream_;
};

template <int kGroup, int kHeld>
void forward_by(const LayernormArgs& args, cudaStream_t stream) {
  constexpr int kThreads = block_threads(kGroup), kRows = kThreads / kGroup;
  const int blocks = blocks_for((args.rows + kRows - 1) / kRows, 16);
  forward_held<kGroup, kHeld><<<blocks, kThreads, 0, stream>>>(args);
}

int64_t finish(const LayernormArgs& args, const Pair* parts, int count, cudaStream_t stream) {
  const int blocks = blocks_for((args.cols + kWarp - 1) / kWarp, 16);
  add_parts<<<blocks, dim3(kWarp, kPartRows), 0, stream>>>(args, parts, count);
  return cudaGetLastError();
}

template <int kGroup, int kHeld>
int64_t backward_by(const LayernormArgs& args, cudaStream_t stream) {
  constexpr int kThreads = block_threads(kGroup), kRows = kThreads / kGroup;
  const int blocks = blocks_for((args.rows + kRows - 1) / kRows, 2);
  const Scratch parts(blocks * args.cols, stream);
  if (parts.get() == nullptr) return cudaErrorMemoryAllocation;
  backward_held<kGroup, kHeld><<<blocks, kThreads, 0, stream>>>(args, parts.get());
  return finish(args, parts.get(), blocks, stream);
}

constexpr int64_t kLeastRows = 8;  // of a share of the rows, each of which costs sums of its own

int64_t backward_by_columns(const LayernormArgs& args, cudaStream_t stream) {
  const int64_t across = (args.cols + kColumnThreads - 1) / kColumnThreads;
  const int64_t most = 1 + 8 * multiprocessors() / across;
  const int down = static_cast<int>(std::clamp<int64_t>(args.rows / kLeastRows, 1, most));
  const Scratch means(args.rows, stream);
  const Scratch parts(down * args.cols, stream);
  if (means.get() == nullptr || parts.get() == nullptr) return cudaErrorMemoryAllocation;
  if (args.dx != nullptr)
    means_long<<<blocks_for(args.rows, 2), kLong, 0, stream>>>(args, means.get());
  backward_long<<<dim3(static_cast<unsigned>(across), down), kColumnThreads, 0, stream>>>(
      args, means.get(), parts.get());
  return finish(args, parts.get(), down, stream);
}

bool bad_stride(const void* array, int64_t stride, int64_t cols) {
  return array != nullptr && stride < cols;
}

int64_t status_of(const LayernormArgs& args, bool backward) {
  if (args.abi_version != LAYERNORM_ABI_VERSION || args.device != LAYERNORM_CUDA ||
      args.data_type != LAYERNORM_F32 || args.parameter_type != LAYERNORM_F32)
    return LAYERNORM_UNSUPPORTED;
  if (args.rows < 0 || args.cols < 1 || args.num_threads < 1 || !(args.eps >= 0))
    return LAYERNORM_BAD_ARGUMENT;
  if (bad_stride(args.x, args.x_row_stride, args.cols) ||
      bad_stride(args.y, args.y_row_stride, args.cols) ||
      bad_stride(args.dy, args.dy_row_stride, args.cols) ||
      bad_stride(args.dx, args.dx_row_stride, args.cols))
    return LAYERNORM_BAD_ARGUMENT;
  if (!args.mean != !args.rstd) return LAYERNORM_BAD_ARGUMENT;
  if (args.rows > 0 && (!args.x || (backward && !args.dy))) return LAYERNORM_BAD_ARGUMENT;
  if (args.rows > 0 && backward && !args.mean && !args.saved_in) return LAYERNORM_BAD_ARGUMENT;
  return LAYERNORM_OK;
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* args) {
  if (args->rows < 0 || args->cols < 1) return LAYERNORM_BAD_ARGUMENT;
  return args->rows * static_cast<int64_t>(sizeof(RowStats));
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (const int64_t status = status_of(*args, false); status != LAYERNORM_OK) return status;
  const auto stream = static_cast<cudaStream_t>(args->stream);
  if (args->rows == 0) return LAYERNORM_OK;
  if (args->cols <= 8)
    forward_by<8, 1>(*args, stream);
  else if (args->cols <= 64)
    forward_by<32, 2>(*args, stream);
  else if (args->cols <= 256)
    forward_by<32, 8>(*args, stream);
  else if (args->cols <= 1024)
    forward_by<32, 32>(*args, stream);
  else if (args->cols <= 8192)
    forward_by<512, 16>(*args, stream);
  else if (args->cols <= 32768)
    forward_by<1024, 32>(*args, stream);
  else
    forward_long<<<blocks_for(args->rows, 2), kLong, 0, stream>>>(*args);
  return cudaGetLastError();
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (const int64_t status = status_of(*args, true); status != LAYERNORM_OK) return status;
  const auto stream = static_cast<cudaStream_t>(args->stream);
  if (args->cols <= 8) return backward_by<8, 1>(*args, stream);
  if (args->cols <= 64) return backward_by<32, 2>(*args, stream);
  if (args->cols <= 256) return backward_by<32, 8>(*args, stream);
  if (args->cols <= 1024) return backward_by<32, 32>(*args, stream);
  if (args->cols <= 8192) return backward_by<512, 16>(*args, stream);
  return backward_by_columns(*args, stream);
}
