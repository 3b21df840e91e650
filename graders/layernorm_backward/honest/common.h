// SPDX-License-Identifier: Apache-2.0
// What every variant refuses. Nothing here has external linkage: a self test is loaded beside a
// variant, and may have names like these.
#pragma once

#include "contract.h"

namespace {

enum class Pass { forward, backward };

bool short_stride(const void* array, int64_t stride, int64_t cols) {
  return array && stride < cols;
}

/// LAYERNORM_OK for a call that makes sense.
int64_t refusal(const LayernormArgs& a, Pass pass) {
  if (a.abi_version != LAYERNORM_ABI_VERSION || a.device != LAYERNORM_HOST)
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

}  // namespace
