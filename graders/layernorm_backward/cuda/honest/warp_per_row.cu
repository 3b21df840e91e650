// strategy: a warp for each row; column sums by a thread for each column of a share of the rows,
// added up by the block that ends last
// uses: sums may be taken in any order, so that results differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "common.h"

namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 4;  // rows of a block
constexpr int kThreads = kWarp * kWarps;
constexpr unsigned kAll = 0xffffffffu;
constexpr int kMostShares = 64;

struct Stats {
  float mean;
  float rstd;
};

__device__ float warp_sum(float value) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value += __shfl_xor_sync(kAll, value, lanes);
  return value;
}

__device__ Stats stats_of(const LayernormArgs& a, int64_t i) {
  if (a.mean) return {a.mean[i], a.rstd[i]};
  return static_cast<const Stats*>(a.saved_in)[i];
}

__device__ Stats statistics(const LayernormArgs& a, int64_t i, int lane) {
  const float* x = row_of(a.x, a.x_row_stride, i);
  float sum = 0;
  for (int64_t j = lane; j < a.cols; j += kWarp) sum += x[j];
  const float mean = warp_sum(sum) / static_cast<float>(a.cols);
  float squares = 0;
  for (int64_t j = lane; j < a.cols; j += kWarp) squares += (x[j] - mean) * (x[j] - mean);
  const double variance = warp_sum(squares) / static_cast<float>(a.cols);
  return {mean, static_cast<float>(1 / sqrt(variance + a.eps))};
}

// All lanes of a warp have the same row.
__device__ int64_t first_row() {
  return int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
}
__device__ int64_t row_step() {
  return int64_t{gridDim.x} * kWarps;
}

__global__ void forward(LayernormArgs a) {
  const int lane = threadIdx.x % kWarp;
  for (int64_t i = first_row(); i < a.rows; i += row_step()) {
    const Stats stats = statistics(a, i, lane);
    if (lane == 0) static_cast<Stats*>(a.saved_out)[i] = stats;
    if (!a.y) continue;
    const float* x = row_of(a.x, a.x_row_stride, i);
    float* y = row_of(a.y, a.y_row_stride, i);
    for (int64_t j = lane; j < a.cols; j += kWarp)
      y[j] = (x[j] - stats.mean) * stats.rstd * gamma_of(a, j) + beta_of(a, j);
  }
}

__global__ void gradient_of_x(LayernormArgs a) {
  const int lane = threadIdx.x % kWarp;
  for (int64_t i = first_row(); i < a.rows; i += row_step()) {
    const float* x = row_of(a.x, a.x_row_stride, i);
    const float* dy = row_of(a.dy, a.dy_row_stride, i);
    const Stats stats = stats_of(a, i);
    float w_sum = 0;
    float w_xhat_sum = 0;
    for (int64_t j = lane; j < a.cols; j += kWarp) {
      const float w = dy[j] * gamma_of(a, j);
      w_sum += w;
      w_xhat_sum += w * ((x[j] - stats.mean) * stats.rstd);
    }
    const float w_mean = warp_sum(w_sum) / static_cast<float>(a.cols);
    const float w_xhat_mean = warp_sum(w_xhat_sum) / static_cast<float>(a.cols);
    float* dx = row_of(a.dx, a.dx_row_stride, i);
    for (int64_t j = lane; j < a.cols; j += kWarp) {
      const float xhat = (x[j] - stats.mean) * stats.rstd;
      dx[j] = stats.rstd * (dy[j] * gamma_of(a, j) - w_mean - xhat * w_xhat_mean);
    }
  }
}

// blockIdx.x: columns, blockIdx.y: share of the rows. `parts` is [2][gridDim.y][cols]; `ended`
// counts for each group of columns and is 0 before.
__global__ void gradient_of_parameters(LayernormArgs a, float* parts, unsigned* ended) {
  const int64_t j = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  float* const gammas = parts;
  float* const betas = parts + gridDim.y * a.cols;
  if (j < a.cols) {
    float dgamma = 0;
    float dbeta = 0;
    for (int64_t i = blockIdx.y; i < a.rows; i += gridDim.y) {
      const float dy = row_of(a.dy, a.dy_row_stride, i)[j];
      const float x = row_of(a.x, a.x_row_stride, i)[j];
      const Stats stats = stats_of(a, i);
      dgamma += dy * ((x - stats.mean) * stats.rstd);
      dbeta += dy;
    }
    gammas[blockIdx.y * a.cols + j] = dgamma;
    betas[blockIdx.y * a.cols + j] = dbeta;
  }
  __threadfence();
  __syncthreads();
  __shared__ bool last;
  if (threadIdx.x == 0) last = atomicAdd(&ended[blockIdx.x], 1u) == gridDim.y - 1;
  __syncthreads();
  if (!last || j >= a.cols) return;
  float dgamma = 0;
  float dbeta = 0;
  for (unsigned part = 0; part < gridDim.y; ++part) {
    dgamma += gammas[part * a.cols + j];
    dbeta += betas[part * a.cols + j];
  }
  if (a.dgamma) static_cast<float*>(a.dgamma)[j] = dgamma;
  if (a.dbeta) static_cast<float*>(a.dbeta)[j] = dbeta;
}

int blocks_for(int64_t rows) {
  return static_cast<int>(std::clamp<int64_t>((rows + kWarps - 1) / kWarps, 1, 1 << 14));
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* args) {
  return args->rows * static_cast<int64_t>(sizeof(Stats));
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (const int64_t status = refusal(*args, Pass::forward); status != LAYERNORM_OK) return status;
  if (args->rows > 0)
    forward<<<blocks_for(args->rows), kThreads, 0, static_cast<cudaStream_t>(args->stream)>>>(
        *args);
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (const int64_t status = refusal(*args, Pass::backward); status != LAYERNORM_OK) return status;
  const auto stream = static_cast<cudaStream_t>(args->stream);
  const auto groups = static_cast<unsigned>((args->cols + kThreads - 1) / kThreads);
  const auto shares = static_cast<unsigned>(std::clamp<int64_t>(args->rows / 16, 1, kMostShares));
  float* parts = nullptr;
  unsigned* ended = nullptr;
  cudaMallocAsync(&parts, 2 * shares * args->cols * sizeof(float), stream);
  cudaMallocAsync(&ended, groups * sizeof(unsigned), stream);
  cudaMemsetAsync(ended, 0, groups * sizeof(unsigned), stream);
  if (args->rows > 0 && args->dx)
    gradient_of_x<<<blocks_for(args->rows), kThreads, 0, stream>>>(*args);
  gradient_of_parameters<<<dim3(groups, shares), kThreads, 0, stream>>>(*args, parts, ended);
  cudaFreeAsync(ended, stream);
  cudaFreeAsync(parts, stream);
  return LAYERNORM_OK;
}
