// SPDX-License-Identifier: Apache-2.0
// What every variant refuses. Nothing here has external linkage: a self test is loaded beside a
// variant, and may have names like these.
#pragma once

#include <cmath>

#include "contract.h"

namespace {

/// SOFTMAX_TOPK_OK for a call that makes sense.
int64_t refusal(const SoftmaxTopkArgs& a) {
  if (a.abi_version != SOFTMAX_TOPK_ABI_VERSION || a.device != SOFTMAX_TOPK_HOST ||
      a.data_type != SOFTMAX_TOPK_F32)
    return SOFTMAX_TOPK_UNSUPPORTED;
  const bool sizes = a.rows >= 0 && a.vocab >= 1 && a.k >= 1 && a.k <= a.vocab &&
                     a.row_stride >= a.vocab && a.num_threads >= 1;
  const bool scale = a.scale > 0 && std::isfinite(a.scale);
  const bool arrays = a.rows <= 0 || (a.logits && a.indices && a.probs);
  return sizes && scale && arrays ? SOFTMAX_TOPK_OK : SOFTMAX_TOPK_BAD_ARGUMENT;
}

/// scale * (z - max), rounded once. As a float the difference may overflow where the scale is tiny,
/// and be flushed to zero where it is huge; a difference of products loses what they share.
[[maybe_unused]] float below(float z, float max, float scale) {
  return static_cast<float>(double{scale} * (double{z} - double{max}));
}

}  // namespace
