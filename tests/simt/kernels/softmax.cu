// SPDX-License-Identifier: Apache-2.0
// One block a row; the online maximum and sum are merged through shared memory.
#include <cfloat>

extern __shared__ float2 partial[];

__device__ float2 merged(float2 a, float2 b) {
  const float most = fmaxf(a.x, b.x);
  if (most == -INFINITY) return make_float2(most, 0);
  return make_float2(most, a.y * expf(a.x - most) + b.y * expf(b.x - most));
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int columns) {
  const float* row = x + blockIdx.x * columns;
  float2 state = make_float2(-INFINITY, 0);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    state = merged(state, make_float2(row[i], 1));
  partial[threadIdx.x] = state;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      partial[threadIdx.x] = merged(partial[threadIdx.x], partial[threadIdx.x + half]);
    __syncthreads();
  }
  state = partial[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[blockIdx.x * columns + i] = expf(row[i] - state.x) / state.y;
}
