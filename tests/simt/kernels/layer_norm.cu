// SPDX-License-Identifier: Apache-2.0
// One warp normalises one row: two passes over registers' sums, shuffles for the row.
__device__ float warp_sum(float value) {
  for (int lanes = 16; lanes > 0; lanes /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, lanes);
  return value;
}

__global__ void layer_norm(const float* x, const float* gamma, const float* beta, float* y,
                           int rows, int columns) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* in = x + (long)row * columns;
  float sum = 0;
  for (int i = lane; i < columns; i += 32) sum += in[i];
  const float mean = warp_sum(sum) / columns;
  float squares = 0;
  for (int i = lane; i < columns; i += 32) squares += (in[i] - mean) * (in[i] - mean);
  const float scale = rsqrtf(warp_sum(squares) / columns + 1e-5f);
  for (int i = lane; i < columns; i += 32)
    y[(long)row * columns + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}
