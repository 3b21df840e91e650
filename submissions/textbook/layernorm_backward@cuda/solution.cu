// Layer normalisation as a textbook has it: a warp for each row, statistics in two passes, then a
// block for each tile of columns that sums dgamma and dbeta over all rows.
#include <cmath>

#include "contract.h"

namespace {

constexpr int kWarp = 32;
constexpr int kRows = 4;  // of a block
constexpr int kTile = 32;

struct Saved {
  float mean;
  float rstd;
};

__device__ float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

// The row of a warp; all lanes of it have the same.
__device__ int64_t row_of_warp() {
  return int64_t{blockIdx.x} * kRows + threadIdx.x / kWarp;
}

__device__ float gamma_at(const LayernormArgs& args, int64_t j) {
  return args.gamma ? static_cast<const float*>(args.gamma)[j] : 1.0f;
}

__device__ float beta_at(const LayernormArgs& args, int64_t j) {
  return args.beta ? static_cast<const float*>(args.beta)[j] : 0.0f;
}

__device__ Saved saved_of(const LayernormArgs& args, int64_t i) {
  if (args.mean) return {args.mean[i], args.rstd[i]};
  return static_cast<const Saved*>(args.saved_in)[i];
}

__global__ void forward_kernel(LayernormArgs args) {
  const int64_t i = row_of_warp();
  if (i >= args.rows) return;
  const int lane = threadIdx.x % kWarp;
  const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
  float sum = 0;
  for (int64_t j = lane; j < args.cols; j += kWarp) sum += x[j];
  const float mean = warp_sum(sum) / static_cast<float>(args.cols);
  float squares = 0;
  for (int64_t j = lane; j < args.cols; j += kWarp) {
    const float centred = x[j] - mean;
    squares += centred * centred;
  }
  const double variance = warp_sum(squares) / static_cast<float>(args.cols);
  const auto rstd = static_cast<float>(1 / sqrt(variance + args.eps));  // eps may be below any float
  if (lane == 0 && args.saved_out) static_cast<Saved*>(args.saved_out)[i] = {mean, rstd};
  if (!args.y) return;
  float* y = static_cast<float*>(args.y) + i * args.y_row_stride;
  for (int64_t j = lane; j < args.cols; j += kWarp)
    y[j] = gamma_at(args, j) * ((x[j] - mean) * rstd) + beta_at(args, j);
}

__global__ void dx_kernel(LayernormArgs args) {
  const int64_t i = row_of_warp();
  if (i >= args.rows) return;
  const int lane = threadIdx.x % kWarp;
  const float* x = static_cast<const float*>(args.x) + i * args.x_row_stride;
  const float* dy = static_cast<const float*>(args.dy) + i * args.dy_row_stride;
  const Saved row = saved_of(args, i);
  float sum_w = 0;
  float sum_w_xhat = 0;
  for (int64_t j = lane; j < args.cols; j += kWarp) {
    const float xhat = (x[j] - row.mean) * row.rstd;
    const float w = gamma_at(args, j) * dy[j];
    sum_w += w;
    sum_w_xhat += w * xhat;
  }
  const float mean_w = warp_sum(sum_w) / static_cast<float>(args.cols);
  const float mean_w_xhat = warp_sum(sum_w_xhat) / static_cast<float>(args.cols);
  float* dx = static_cast<float*>(args.dx) + i * args.dx_row_stride;
  for (int64_t j = lane; j < args.cols; j += kWarp) {
    const float xhat = (x[j] - row.mean) * row.rstd;
    const float w = gamma_at(args, j) * dy[j];
    dx[j] = row.rstd * (w - mean_w - xhat * mean_w_xhat);
  }
}

// 32 x 32 threads: a column for each lane, the rows dealt out to the warps.
__global__ void parameters_kernel(LayernormArgs args) {
  __shared__ float gammas[kTile][kTile];
  __shared__ float betas[kTile][kTile];
  const int64_t j = int64_t{blockIdx.x} * kTile + threadIdx.x;
  float dgamma = 0;
  float dbeta = 0;
  if (j < args.cols)
    for (int64_t i = threadIdx.y; i < args.rows; i += kTile) {
      const float x = static_cast<const float*>(args.x)[i * args.x_row_stride + j];
      const float dy = static_cast<const float*>(args.dy)[i * args.dy_row_stride + j];
      const Saved row = saved_of(args, i);
      dgamma += dy * ((x - row.mean) * row.rstd);
      dbeta += dy;
    }
  gammas[threadIdx.y][threadIdx.x] = dgamma;
  betas[threadIdx.y][threadIdx.x] = dbeta;
  __syncthreads();
  if (threadIdx.y != 0 || j >= args.cols) return;
  for (int warp = 1; warp < kTile; ++warp) {
    dgamma += gammas[warp][threadIdx.x];
    dbeta += betas[warp][threadIdx.x];
  }
  if (args.dgamma) static_cast<float*>(args.dgamma)[j] = dgamma;
  if (args.dbeta) static_cast<float*>(args.dbeta)[j] = dbeta;
}

unsigned blocks_for(const LayernormArgs& args) {
  return static_cast<unsigned>((args.rows + kRows - 1) / kRows);
}

int64_t validate(const LayernormArgs& args) {
  if (args.abi_version != LAYERNORM_ABI_VERSION || args.device != LAYERNORM_CUDA)
    return LAYERNORM_UNSUPPORTED;
  if (args.data_type != LAYERNORM_F32 || args.parameter_type != LAYERNORM_F32)
    return LAYERNORM_UNSUPPORTED;
  if (args.rows < 0 || args.cols < 1 || args.num_threads < 1) return LAYERNORM_BAD_ARGUMENT;
  if (std::isnan(args.eps) || args.eps < 0) return LAYERNORM_BAD_ARGUMENT;
  if (args.x && args.x_row_stride < args.cols) return LAYERNORM_BAD_ARGUMENT;
  if (args.y && args.y_row_stride < args.cols) return LAYERNORM_BAD_ARGUMENT;
  if (args.dy && args.dy_row_stride < args.cols) return LAYERNORM_BAD_ARGUMENT;
  if (args.dx && args.dx_row_stride < args.cols) return LAYERNORM_BAD_ARGUMENT;
  if (args.rows > 0 && !args.x) return LAYERNORM_BAD_ARGUMENT;
  if ((args.mean == nullptr) != (args.rstd == nullptr)) return LAYERNORM_BAD_ARGUMENT;
  return LAYERNORM_OK;
}

}  // namespace

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* args) {
  return args->rows * static_cast<int64_t>(sizeof(Saved));
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (const int64_t status = validate(*args); status != LAYERNORM_OK) return status;
  const auto stream = static_cast<cudaStream_t>(args->stream);
  if (args->rows > 0) forward_kernel<<<blocks_for(*args), kRows * kWarp, 0, stream>>>(*args);
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (const int64_t status = validate(*args); status != LAYERNORM_OK) return status;
  if (args->rows > 0 && !args->dy) return LAYERNORM_BAD_ARGUMENT;
  const auto stream = static_cast<cudaStream_t>(args->stream);
  if (args->rows > 0 && args->dx) dx_kernel<<<blocks_for(*args), kRows * kWarp, 0, stream>>>(*args);
  const int64_t tiles = (args->cols + kTile - 1) / kTile;
  if (args->dgamma || args->dbeta)
    parameters_kernel<<<tiles, dim3(kTile, kTile), 0, stream>>>(*args);
  return LAYERNORM_OK;
}
