// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory to work in: aligned arrays, and all of them that one thread needs.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "contract.h"
#include "vectors.h"

namespace attention {

inline constexpr std::int64_t kQueries = 64;  // rows of a tile
inline constexpr std::int64_t kKeys = 64;     // columns of a tile; a multiple of kLanes

struct FloatDelete {
  void operator()(float* data) const { ::operator delete[](data, std::align_val_t{64}); }
};
using Floats = std::unique_ptr<float[], FloatDelete>;

/// 64-byte aligned, not initialised.
inline Floats floats(std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
  return Floats(static_cast<float*>(::operator new[](bytes, std::align_val_t{64})));
}

/// The padding of packed rows takes part in products, and must be finite.
inline Floats zeros(std::int64_t count) {
  Floats made = floats(count);
  std::fill_n(made.get(), count, 0.0f);
  return made;
}

/// What one thread works in. K and V of the block twice: as rows and transposed.
struct Scratch {
  explicit Scratch(const FlashAttentionBackwardArgs& a)
      : d(padded(a.head_dim)),
        dv(padded(a.value_dim)),
        k_rows(zeros(kKeys * d)),
        k_columns(zeros(a.head_dim * kKeys)),
        v_columns(zeros(a.value_dim * kKeys)),
        q(zeros(kQueries * d)),
        d_out(zeros(kQueries * dv)),
        p(zeros(kQueries * kKeys)),
        ds(zeros(kQueries * kKeys)),
        dq(zeros(kQueries * d)),
        dk(zeros(kKeys * d)),
        dv_sum(zeros(kKeys * dv)) {}

  std::int64_t d, dv;
  Floats k_rows, k_columns, v_columns, q, d_out, p, ds, dq, dk, dv_sum;
};

}  // namespace attention
