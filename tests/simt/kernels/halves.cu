// SPDX-License-Identifier: Apache-2.0
// Arithmetic of both 16-bit types, alone and in pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void halves(const float* x, const float* y, float* out, int n) {
  const int i = threadIdx.x;
  const __half a = __float2half(x[i]), b = __float2half(y[i]);
  const __nv_bfloat16 c = __float2bfloat16(x[i]), d = __float2bfloat16(y[i]);
  out[i] = __half2float(a + b);
  out[n + i] = __half2float(a * b);
  out[2 * n + i] = __half2float(__hfma(a, b, a));
  out[3 * n + i] = __bfloat162float(c + d);
  out[4 * n + i] = __bfloat162float(c * d);
  out[5 * n + i] = __bfloat162float(__hfma(c, d, c));
  const __half2 pair = __hfma2(__halves2half2(a, b), __halves2half2(b, b), __half2half2(a));
  out[6 * n + i] = __low2float(pair);
  out[7 * n + i] = __high2float(pair);
  out[8 * n + i] = a < b ? 1.0f : 0.0f;
}
