// SPDX-License-Identifier: Apache-2.0
// A sum in one launch: blocks leave partial sums, and the last one to be done adds them up.
__device__ unsigned int arrived;

__global__ void sum_up(const float* x, int n, float* partial, float* total) {
  __shared__ float own[128];
  __shared__ bool is_last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  own[threadIdx.x] = sum;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = own[0];
#ifndef NO_FENCE
    __threadfence();
#endif
    is_last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < gridDim.x; ++i) all += partial[i];
    *total = all;
    arrived = 0;
  }
}
