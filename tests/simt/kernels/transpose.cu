// SPDX-License-Identifier: Apache-2.0
// A 32 x 32 tile through shared memory, with and without the column that avoids bank conflicts.
template <int kPad>
__device__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + kPad];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32; i += blockDim.y)
    tile[i][threadIdx.x] = in[(y + i) * n + x + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += blockDim.y)
    out[(x + i) * n + y + threadIdx.x] = tile[threadIdx.x][i];
}
__global__ void transpose_plain(const float* in, float* out, int n) { transpose<0>(in, out, n); }
__global__ void transpose_padded(const float* in, float* out, int n) { transpose<1>(in, out, n); }
