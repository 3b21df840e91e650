// strategy: a block for each row, sums by a tree in shared memory; column sums of tiles by atomic
// adds, or by one block for all rows when deterministic
// uses: without `deterministic` the bits of dgamma and dbeta may change from call to call
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "common.h"

namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 1 << 16;

struct Stats {
  float mean;
  float rstd;
};

// The sum over the block, for all of its threads.
__device__ float block_sum(float value) {
  __shared__ float tree[kThreads];
  tree[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) tree[threadIdx.x] += tree[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = tree[0];
  __syncthreads();
  return sum;
}

__device__ Stats stats_of(const LayernormArgs& a, int64_t i) {
  if (a.mean) return {a.mean[i], a.rstd[i]};
  return static_cast<const Stats*>(a.saved_in)[i];
}

__global__ void forward(LayernormArgs a) {
  const float cols = static_cast<float>(a.cols);
  for (int64_t i = blockIdx.x; i < a.rows; i += gridDim.x) {
    const float* x = row_of(a.x, a.x_row_stride, i);
    float sum = 0;
    for (int64_t j = threadIdx.x; j < a.cols; j += kThreads) sum += x[j];
    const float mean = block_sum(sum) / cols;
    float squares = 0;
    for (int64_t j = threadIdx.x; j < a.cols; j += kThreads)
      squares += (x[j] - mean) * (x[j] - mean);
    const double variance = block_sum(squares) / cols;
    const auto rstd = static_cast<float>(1 / sqrt(variance + a.eps));
    if (threadIdx.x == 0 && a.saved_out) static_cast<Stats*>(a.saved_out)[i] = {mean, rstd};
    if (!a.y) continue;
    float* y = row_of(a.y, a.y_row_stride, i);
    for (int64_t j = threadIdx.x; j < a.cols; j += kThreads)
      y[j] = (x[j] - mean) * rstd * gamma_of(a, j) + beta_of(a, j);
  }
}

__global__ void gradient_of_x(LayernormArgs a) {
  const float cols = static_cast<float>(a.cols);
  for (int64_t i = blockIdx.x; i < a.rows; i += gridDim.x) {
    const float* x = row_of(a.x, a.x_row_stride, i);
    const float* dy = row_of(a.dy, a.dy_row_stride, i);
    const Stats stats = stats_of(a, i);
    float w_sum = 0;
    float w_xhat_sum = 0;
    for (int64_t j = threadIdx.x; j < a.cols; j += kThreads) {
      const float w = dy[j] * gamma_of(a, j);
      w_sum += w;
      w_xhat_sum += w * ((x[j] - stats.mean) * stats.rstd);
    }
    const float w_mean = block_sum(w_sum) / cols;
    const float w_xhat_mean = block_sum(w_xhat_sum) / cols;
    float* dx = row_of(a.dx, a.dx_row_stride, i);
    for (int64_t j = threadIdx.x; j < a.cols; j += kThreads) {
      const float xhat = (x[j] - stats.mean) * stats.rstd;
      dx[j] = stats.rstd * (dy[j] * gamma_of(a, j) - w_mean - xhat * w_xhat_mean);
    }
  }
}

// A tile is 32 columns wide; its 8 warps take rows in turn, and blockIdx.y counts shares of rows.
constexpr int kTile = 32;
constexpr int kTileRows = 8;
__global__ void gradient_of_parameters(LayernormArgs a) {
  __shared__ float gammas[kTileRows][kTile];
  __shared__ float betas[kTileRows][kTile];
  const int64_t j = int64_t{blockIdx.x} * kTile + threadIdx.x;
  float dgamma = 0;
  float dbeta = 0;
  if (j < a.cols)
    for (int64_t i = int64_t{blockIdx.y} * kTileRows + threadIdx.y; i < a.rows;
         i += int64_t{gridDim.y} * kTileRows) {
      const Stats stats = stats_of(a, i);
      const float dy = row_of(a.dy, a.dy_row_stride, i)[j];
      dgamma += dy * ((row_of(a.x, a.x_row_stride, i)[j] - stats.mean) * stats.rstd);
      dbeta += dy;
    }
  gammas[threadIdx.y][threadIdx.x] = dgamma;
  betas[threadIdx.y][threadIdx.x] = dbeta;
  __syncthreads();
  if (threadIdx.y > 0 || j >= a.cols) return;
  for (int row = 1; row < kTileRows; ++row) {
    dgamma += gammas[row][threadIdx.x];
    dbeta += betas[row][threadIdx.x];
  }
  if (a.dgamma) atomicAdd(static_cast<float*>(a.dgamma) + j, dgamma);
  if (a.dbeta) atomicAdd(static_cast<float*>(a.dbeta) + j, dbeta);
}

unsigned blocks_for(int64_t rows) {
  return static_cast<unsigned>(std::min(rows, kMostBlocks));
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
  const size_t bytes = args->cols * sizeof(float);
  if (args->rows > 0 && args->dx)
    gradient_of_x<<<blocks_for(args->rows), kThreads, 0, stream>>>(*args);
  if (args->dgamma) cudaMemsetAsync(args->dgamma, 0, bytes, stream);
  if (args->dbeta) cudaMemsetAsync(args->dbeta, 0, bytes, stream);
  const auto tiles = static_cast<unsigned>((args->cols + kTile - 1) / kTile);
  const auto shares =
      args->deterministic ? 1u : static_cast<unsigned>(std::clamp<int64_t>(args->rows / 16, 1, 64));
  gradient_of_parameters<<<dim3(tiles, shares), dim3(kTile, kTileRows), 0, stream>>>(*args);
  return LAYERNORM_OK;
}
