// SPDX-License-Identifier: Apache-2.0
// What every CUDA variant refuses, and the rows of its arrays.
#pragma once

#include "contract.h"

namespace {

enum class Pass { forward, backward };

bool short_stride(const void* array, int64_t stride, int64_t cols) {
  return array && stride < cols;
}

/// LAYERNORM_OK for a call that makes sense.
int64_t refusal(const LayernormArgs& a, Pass pass) {
  if (a.abi_version != LAYERNORM_ABI_VERSION || a.device != LAYERNORM_CUDA)
    return LAYERNORM_UNSUPPORTED;
  if (a.data_type != LAYERNORM_F32 || a.parameter_type != LAYERNORM_F32)
    return LAYERNORM_UNSUPPORTED;
  if (a.rows < 0 || a.cols < 1 || a.num_threads < 1 || !(a.eps >= 0)) return LAYERNORM_BAD_ARGUMENT;
  if (short_stride(a.x, a.x_row_stride, a.cols) || short_stride(a.y, a.y_row_stride, a.cols) ||
      short_stride(a.dy, a.dy_row_stride, a.cols) || short_stride(a.dx, a.dx_row_stride, a.cols))
    return LAYERNORM_BAD_ARGUMENT;
  const bool needs_dy = pass == Pass::backward;
  if (a.rows > 0 && (!a.x || (needs_dy && !a.dy))) return LAYERNORM_BAD_ARGUMENT;
  return !a.mean == !a.rstd ? LAYERNORM_OK : LAYERNORM_BAD_ARGUMENT;
}

__device__ const float* row_of(const void* base, int64_t stride, int64_t i) {
  return static_cast<const float*>(base) + i * stride;
}
__device__ float* row_of(void* base, int64_t stride, int64_t i) {
  return static_cast<float*>(base) + i * stride;
}
__device__ float gamma_of(const LayernormArgs& a, int64_t j) {
  return a.gamma ? static_cast<const float*>(a.gamma)[j] : 1.0f;
}
__device__ float beta_of(const LayernormArgs& a, int64_t j) {
  return a.beta ? static_cast<const float*>(a.beta)[j] : 0.0f;
}

}  // namespace
