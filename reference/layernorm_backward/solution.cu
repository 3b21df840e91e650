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

#include "contract.h"

namespace {

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffffu;
constexpr int64_t kNoMemory = -3;  // the device's; or it is broken

// What forward leaves for backward, per row: mean + carry is the mean to about 48 bits.
struct RowStats {
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
constexpr int block_threads(int group) {
  return group > kWarp ? group : 256;
}

struct Pair {
  float a;
  float b;
};

// The sums over the threads of a row, for each of them. All threads of the block come here.
template <int kGroup>
__device__ Pair row_sums(Pair sum) {
  for (int lanes = std::min(kGroup, kWarp) / 2; lanes > 0; lanes /= 2) {
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

__device__ RowStats row_stats(float mean, float carry, float squares, const LayernormArgs& args) {
  const double variance = squares / static_cast<float>(args.cols);
  return {mean, carry, static_cast<float>(1 / sqrt(variance + args.eps))};
}

__device__ void put_y(const LayernormArgs& args, const RowStats& row, int64_t i, int64_t j,
                      float x) {
  const auto* beta = static_cast<const float*>(args.beta);
  static_cast<float*>(args.y)[i * args.y_row_stride + j] =
      fmaf(or_one(args.gamma, j), row.xhat(x), beta != nullptr ? beta[j] : 0.0f);
}

// A row's thread t holds columns t, t + kGroup, ... Blocks take rows in turn.
template <int kGroup, int kHeld>
__global__ void __launch_bounds__(block_threads(kGroup)) forward_held(LayernormArgs args) {
  constexpr int kRows = block_threads(kGroup) / kGroup;
  const int t = threadIdx.x % kGroup;
  const float cols = static_cast<float>(args.cols);
  for (int64_t base = int64_t{blockIdx.x} * kRows; base < args.rows;
       base += int64_t{gridDim.x} * kRows) {
    const int64_t i = base + threadIdx.x / kGroup;
    const int64_t width = i < args.rows ? args.cols : 0;
    const float* from = static_cast<const float*>(args.x) + i * args.x_row_stride;
    float x[kHeld];
    float sum = 0, rest = 0, squares = 0;
    for (int k = 0; k < kHeld; ++k) sum += x[k] = t + k * kGroup < width ? from[t + k * kGroup] : 0;
    const float mean = row_sum<kGroup>(sum) / cols;
    for (int k = 0; k < kHeld; ++k) rest += t + k * kGroup < width ? x[k] - mean : 0;
    const float carry = row_sum<kGroup>(rest) / cols;
    for (int k = 0; k < kHeld; ++k) {
      const float d = t + k * kGroup < width ? (x[k] - mean) - carry : 0;
      squares = fmaf(d, d, squares);
    }
    const RowStats row = row_stats(mean, carry, row_sum<kGroup>(squares), args);
    if (width > 0 && t == 0 && args.saved_out != nullptr)
      static_cast<RowStats*>(args.saved_out)[i] = row;
    if (args.y == nullptr) continue;
    for (int k = 0; k < kHeld; ++k)
      if (t + k * kGroup < width) put_y(args, row, i, t + k * kGroup, x[k]);
  }
}

// Rows that no block can hold.
constexpr int kLong = 1024;
__global__ void __launch_bounds__(kLong) forward_long(LayernormArgs args) {
  const float cols = static_cast<float>(args.cols);
  for (int64_t i = blockIdx.x; i < args.rows; i += gridDim.x) {
    const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
    float sum = 0, rest = 0, squares = 0;
    for (int64_t j = threadIdx.x; j < args.cols; j += kLong) sum += x[j];
    const float mean = row_sum<kLong>(sum) / cols;
    for (int64_t j = threadIdx.x; j < args.cols; j += kLong) {
      const float d = x[j] - mean;
      rest += d;
      squares = fmaf(d, d, squares);
    }
    const Pair sums = row_sums<kLong>({rest, squares});
    const float carry = sums.a / cols;  // so small that its square loses nothing
    const RowStats row = row_stats(mean, carry, fmaxf(0, sums.b - sums.a * carry), args);
    if (threadIdx.x == 0 && args.saved_out != nullptr)
      static_cast<RowStats*>(args.saved_out)[i] = row;
    if (args.y == nullptr) continue;
    for (int64_t j = threadIdx.x; j < args.cols; j += kLong) put_y(args, row, i, j, x[j]);
  }
}

__device__ void put_dx(const LayernormArgs& args, const RowStats& row, const Pair& mean, int64_t i,
                       int64_t j, float w, float xhat) {
  static_cast<float*>(args.dx)[i * args.dx_row_stride + j] =
      row.rstd * ((w - mean.a) - xhat * mean.b);
}

// Sums over rows of dy * xhat and of dy that a block leaves: `parts` is [gridDim.x][cols].
template <int kGroup, int kHeld>
__device__ void leave_parts(const Pair (&sums)[kHeld], int64_t cols, Pair* parts) {
  constexpr int kRows = block_threads(kGroup) / kGroup;
  const int t = threadIdx.x % kGroup;
  Pair* const part = parts + blockIdx.x * cols;
  if constexpr (kRows == 1) {
    for (int k = 0; k < kHeld; ++k)
      if (t + k * kGroup < cols) part[t + k * kGroup] = sums[k];
    return;
  }
  __shared__ Pair of_rows[kRows][kGroup];
  for (int k = 0; k < kHeld; ++k) {
    __syncthreads();  // the columns before have been added up
    of_rows[threadIdx.x / kGroup][t] = sums[k];
    __syncthreads();
    if (threadIdx.x >= kGroup || t + k * kGroup >= cols) continue;
    Pair total = of_rows[0][t];
    for (int row = 1; row < kRows; ++row) {
      total.a += of_rows[row][t].a;
      total.b += of_rows[row][t].b;
    }
    part[t + k * kGroup] = total;
  }
}

template <int kGroup, int kHeld>
__global__ void __launch_bounds__(block_threads(kGroup))
    backward_held(LayernormArgs args, Pair* parts) {
  constexpr int kRows = block_threads(kGroup) / kGroup;
  const int t = threadIdx.x % kGroup;
  const float cols = static_cast<float>(args.cols);
  Pair sums[kHeld]{};
  for (int64_t base = int64_t{blockIdx.x} * kRows; base < args.rows;
       base += int64_t{gridDim.x} * kRows) {
    const int64_t i = base + threadIdx.x / kGroup;
    const int64_t width = i < args.rows ? args.cols : 0;
    const RowStats row = width > 0 ? stats_for(args, i) : RowStats{};
    const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
    const float* dy = static_cast<const float*>(args.dy) + i * args.dy_row_stride;
    float w[kHeld], xhat[kHeld];
    Pair mean{};
    for (int k = 0; k < kHeld; ++k) {
      const int j = t + k * kGroup;
      if (j >= width) continue;
      const float in = dy[j];
      xhat[k] = row.xhat(x[j]);
      w[k] = in * or_one(args.gamma, j);
      sums[k].a = fmaf(in, xhat[k], sums[k].a);
      sums[k].b += in;
      mean.a += w[k];
      mean.b = fmaf(w[k], xhat[k], mean.b);
    }
    if (args.dx == nullptr) continue;
    mean = row_sums<kGroup>(mean);
    mean = {mean.a / cols, mean.b / cols};
    for (int k = 0; k < kHeld; ++k)
      if (t + k * kGroup < width) put_dx(args, row, mean, i, t + k * kGroup, w[k], xhat[k]);
  }
  leave_parts<kGroup, kHeld>(sums, args.cols, parts);
}

// Of long rows first the means of w and of w * xhat ...
__global__ void __launch_bounds__(kLong) means_long(LayernormArgs args, Pair* means) {
  const float cols = static_cast<float>(args.cols);
  for (int64_t i = blockIdx.x; i < args.rows; i += gridDim.x) {
    const RowStats row = stats_for(args, i);
    const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
    const float* dy = static_cast<const float*>(args.dy) + i * args.dy_row_stride;
    Pair sums{};
    for (int64_t j = threadIdx.x; j < args.cols; j += kLong) {
      const float w = dy[j] * or_one(args.gamma, j);
      sums.a += w;
      sums.b = fmaf(w, row.xhat(x[j]), sums.b);
    }
    sums = row_sums<kLong>(sums);
    if (threadIdx.x == 0) means[i] = {sums.a / cols, sums.b / cols};
  }
}

// ... then, a thread for each column of a share of the rows, all the rest.
constexpr int kColumnThreads = 256;
__global__ void __launch_bounds__(kColumnThreads)
    backward_long(LayernormArgs args, const Pair* means, Pair* parts) {
  const int64_t j = int64_t{blockIdx.x} * kColumnThreads + threadIdx.x;
  if (j >= args.cols) return;
  const float gamma = or_one(args.gamma, j);
  const auto* x = static_cast<const float*>(args.x);
  const auto* dy = static_cast<const float*>(args.dy);
  Pair sums{};
  for (int64_t i = blockIdx.y; i < args.rows; i += gridDim.y) {
    const RowStats row = stats_for(args, i);
    const float in = dy[i * args.dy_row_stride + j];
    const float xhat = row.xhat(x[i * args.x_row_stride + j]);
    sums.a = fmaf(in, xhat, sums.a);
    sums.b += in;
    if (args.dx != nullptr) put_dx(args, row, means[i], i, j, in * gamma, xhat);
  }
  parts[blockIdx.y * args.cols + j] = sums;
}

// dgamma and dbeta from what blocks left, 32 columns a block, in the order of the parts.
constexpr int kPartRows = 8;
__global__ void __launch_bounds__(kWarp* kPartRows)
    add_parts(LayernormArgs args, const Pair* parts, int count) {
  __shared__ Pair of_rows[kPartRows][kWarp];
  for (int64_t first = int64_t{blockIdx.x} * kWarp; first < args.cols;
       first += int64_t{gridDim.x} * kWarp) {
    const int64_t j = first + threadIdx.x;
    Pair sum{};
    for (int part = threadIdx.y; part < count && j < args.cols; part += kPartRows) {
      sum.a += parts[part * args.cols + j].a;
      sum.b += parts[part * args.cols + j].b;
    }
    __syncthreads();  // the columns before have been added up
    of_rows[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || j >= args.cols) continue;
    for (int row = 1; row < kPartRows; ++row) {
      sum.a += of_rows[row][threadIdx.x].a;
      sum.b += of_rows[row][threadIdx.x].b;
    }
    if (args.dgamma != nullptr) static_cast<float*>(args.dgamma)[j] = sum.a;
    if (args.dbeta != nullptr) static_cast<float*>(args.dbeta)[j] = sum.b;
  }
}

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
    if (cudaMallocAsync(&at_, std::max<int64_t>(pairs, 1) * sizeof(Pair), stream) != cudaSuccess)
      at_ = nullptr;
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
  return cudaGetLastError() == cudaSuccess ? LAYERNORM_OK : kNoMemory;
}

template <int kGroup, int kHeld>
int64_t backward_by(const LayernormArgs& args, cudaStream_t stream) {
  constexpr int kThreads = block_threads(kGroup), kRows = kThreads / kGroup;
  const int blocks = blocks_for((args.rows + kRows - 1) / kRows, 2);
  const Scratch parts(blocks * args.cols, stream);
  if (parts.get() == nullptr) return kNoMemory;
  backward_held<kGroup, kHeld><<<blocks, kThreads, 0, stream>>>(args, parts.get());
  return finish(args, parts.get(), blocks, stream);
}

int64_t backward_by_columns(const LayernormArgs& args, cudaStream_t stream) {
  const int64_t across = (args.cols + kColumnThreads - 1) / kColumnThreads;
  const int down = static_cast<int>(
      std::min<int64_t>(std::max<int64_t>(args.rows, 1), 1 + 8 * multiprocessors() / across));
  const Scratch means(args.rows, stream);
  const Scratch parts(down * args.cols, stream);
  if (means.get() == nullptr || parts.get() == nullptr) return kNoMemory;
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
  return cudaGetLastError() == cudaSuccess ? LAYERNORM_OK : kNoMemory;
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
