// LayerNorm forward + backward, one warp per row, dgamma/dbeta by atomics.
#include <cmath>

#include "contract.h"

#define WARPS 8

__device__ float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  return v;
}

__global__ void ln_forward(const float* x, const float* gamma, const float* beta, float* y,
                           float* mean, float* rstd, int rows, int cols, int xs, int ys,
                           float eps) {
  int row = blockIdx.x * WARPS + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* in = x + row * xs;
  // single pass: E[x^2] - E[x]^2
  float s = 0.0f, ss = 0.0f;
  for (int j = lane; j < cols; j += 32) {
    s += in[j];
    ss += in[j] * in[j];
  }
  s = warp_sum(s);
  ss = warp_sum(ss);
  float m = s / cols;
  float r = rsqrtf(ss / cols - m * m + eps);
  if (lane == 0) {
    mean[row] = m;
    rstd[row] = r;
  }
  if (y)
    for (int j = lane; j < cols; j += 32) {
      float v = (in[j] - m) * r;
      if (gamma) v *= gamma[j];
      if (beta) v += beta[j];
      y[row * ys + j] = v;
    }
}

// Each block keeps its part of dgamma and dbeta in shared memory.
__global__ void ln_backward(const float* x, const float* gamma, const float* dy, const float* mean,
                            const float* rstd, float* dx, float* dgamma, float* dbeta, int rows,
                            int cols, int xs, int dys, int dxs) {
  extern __shared__ float part[];
  float* dg = part;
  float* db = part + cols;
  for (int j = threadIdx.x; j < 2 * cols; j += blockDim.x) part[j] = 0.0f;
  __syncthreads();
  int row = blockIdx.x * WARPS + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row < rows) {
    const float* xr = x + row * xs;
    const float* dyr = dy + row * dys;
    float m = mean[row], r = rstd[row];
    float a = 0.0f, b = 0.0f;
    for (int j = lane; j < cols; j += 32) {
      float xhat = (xr[j] - m) * r;
      float w = gamma ? dyr[j] * gamma[j] : dyr[j];
      a += w;
      b += w * xhat;
      atomicAdd(&dg[j], dyr[j] * xhat);
      atomicAdd(&db[j], dyr[j]);
    }
    a = warp_sum(a) / cols;
    b = warp_sum(b) / cols;
    if (dx)
      for (int j = lane; j < cols; j += 32) {
        float xhat = (xr[j] - m) * r;
        float w = gamma ? dyr[j] * gamma[j] : dyr[j];
        dx[row * dxs + j] = r * (w - a - xhat * b);
      }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < cols; j += blockDim.x) {
    if (dgamma) atomicAdd(&dgamma[j], dg[j]);
    if (dbeta) atomicAdd(&dbeta[j], db[j]);
  }
}

extern "C" int64_t layernorm_saved_bytes(const LayernormArgs* args) {
  return args->rows * 2 * sizeof(float);
}

extern "C" int64_t layernorm_forward(const LayernormArgs* args) {
  if (args->abi_version != LAYERNORM_ABI_VERSION || args->device != LAYERNORM_CUDA ||
      args->data_type != LAYERNORM_F32 || args->parameter_type != LAYERNORM_F32)
    return LAYERNORM_UNSUPPORTED;
  if (args->rows < 0 || args->cols < 1) return LAYERNORM_BAD_ARGUMENT;
  if (args->rows == 0) return LAYERNORM_OK;
  float* mean = (float*)args->saved_out;
  ln_forward<<<(args->rows + WARPS - 1) / WARPS, WARPS * 32, 0, (cudaStream_t)args->stream>>>(
      (const float*)args->x, (const float*)args->gamma, (const float*)args->beta, (float*)args->y,
      mean, mean + args->rows, args->rows, args->cols, args->x_row_stride, args->y_row_stride,
      args->eps);
  return LAYERNORM_OK;
}

extern "C" int64_t layernorm_backward(const LayernormArgs* args) {
  if (args->abi_version != LAYERNORM_ABI_VERSION || args->device != LAYERNORM_CUDA ||
      args->data_type != LAYERNORM_F32 || args->parameter_type != LAYERNORM_F32)
    return LAYERNORM_UNSUPPORTED;
  if (args->rows < 0 || args->cols < 1) return LAYERNORM_BAD_ARGUMENT;
  cudaStream_t stream = (cudaStream_t)args->stream;
  const float* mean = args->mean ? args->mean : (const float*)args->saved_in;
  const float* rstd = args->rstd ? args->rstd : mean + args->rows;
  if (args->dgamma) cudaMemset(args->dgamma, 0, args->cols * sizeof(float));
  if (args->dbeta) cudaMemset(args->dbeta, 0, args->cols * sizeof(float));
  if (args->rows == 0) return LAYERNORM_OK;
  ln_backward<<<(args->rows + WARPS - 1) / WARPS, WARPS * 32, 2 * args->cols * sizeof(float),
                stream>>>((const float*)args->x, (const float*)args->gamma, (const float*)args->dy,
                          mean, rstd, (float*)args->dx, (float*)args->dgamma, (float*)args->dbeta,
                          args->rows, args->cols, args->x_row_stride, args->dy_row_stride,
                          args->dx_row_stride);
  return LAYERNORM_OK;
}
