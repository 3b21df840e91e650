// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "contract.h"

namespace attention {

/// Which keys a query sees: [first(i), last(i)) of one sequence.
struct Mask {
  std::int64_t shift, left, right;  // visible: i + shift - left <= j <= i + shift + right
  std::int64_t begin, end;          // keys of the sequence

  std::int64_t first(std::int64_t i) const { return std::max(begin, i + shift - left); }
  std::int64_t last(std::int64_t i) const { return std::min(end, i + shift + right + 1); }
};

inline Mask mask_of(const FlashAttentionBackwardArgs& a, std::int64_t batch) {
  const std::int64_t far = a.q_len + a.k_len + 1;  // from any query beyond every key
  Mask mask{};
  mask.begin = a.kv_start ? a.kv_start[batch] : 0;
  mask.end = a.kv_len ? mask.begin + a.kv_len[batch] : a.k_len;
  mask.shift = mask.end - a.q_len;
  mask.left = a.window_left < 0 ? far : std::min(a.window_left, far);
  mask.right = a.window_right < 0 ? far : std::min(a.window_right, far);
  if (a.causal) mask.right = 0;
  return mask;
}

}  // namespace attention
