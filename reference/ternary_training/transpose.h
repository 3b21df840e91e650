// SPDX-License-Identifier: Apache-2.0
#pragma once

// A square of kLanes vectors, transposed in registers.
#include <utility>

#include "vectors.h"

namespace ternary {

/// Swaps the blocks off the diagonal of all squares of 2 * kHalf lanes that rows a and b are part
/// of; b is kHalf rows below a.
template <int kHalf, std::size_t... kLane>
void swap_blocks(Vec& a, Vec& b, std::index_sequence<kLane...>) {
  const Vec upper =
      __builtin_shufflevector(a, b,
                              ((kLane & kHalf) != 0 ? static_cast<int>(kLane) - kHalf + kLanes
                                                    : static_cast<int>(kLane))...);
  b = __builtin_shufflevector(a, b,
                              ((kLane & kHalf) != 0 ? static_cast<int>(kLane) + kLanes
                                                    : static_cast<int>(kLane) + kHalf)...);
  a = upper;
}

template <int kHalf = kLanes / 2>
void transpose_square(Vec (&rows)[kLanes]) {
#pragma GCC unroll 16
  for (int r = 0; r < kLanes; ++r)
    if ((r & kHalf) == 0)
      swap_blocks<kHalf>(rows[r], rows[r + kHalf], std::make_index_sequence<kLanes>());
  if constexpr (kHalf > 1) transpose_square<kHalf / 2>(rows);
}

}  // namespace ternary
