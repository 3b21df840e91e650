// SPDX-License-Identifier: Apache-2.0
// Counts bytes: in shared memory first, then once per bin and block in global memory.
__global__ void histogram(const unsigned char* data, int n, unsigned int* bins) {
  __shared__ unsigned int own[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[data[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (own[i] != 0) atomicAdd(&bins[i], own[i]);
}
