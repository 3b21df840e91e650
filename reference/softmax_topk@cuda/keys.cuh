// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fused {

/// An entry of a row as one number: whoever has the larger one comes first. Above is the logit, in
/// an order of bits that is that of floats, below the index, in reverse. The keys of a row differ
/// from each other and from 0. A NaN, which has no place, gets that of -inf.
using Key = unsigned long long;

constexpr Key kNoKey = 0;           // below all
constexpr Key kAboveAll = ~Key{0};  // +inf has a lower one

__device__ __forceinline__ Key key_of(float logit, std::uint32_t index) {
  const float z = logit == logit ? logit + 0.0f : -INFINITY;  // the sum makes -0 the same as +0
  const std::uint32_t bits = __float_as_uint(z);
  const std::uint32_t order = bits >> 31 ? ~bits : bits | 0x80000000u;
  return Key{order} << 32 | ~index;
}

__device__ __forceinline__ std::int32_t index_of(Key key) {
  return static_cast<std::int32_t>(~static_cast<std::uint32_t>(key));
}

__device__ __forceinline__ float logit_of(Key key) {
  const auto order = static_cast<std::uint32_t>(key >> 32);
  return __uint_as_float(order >> 31 ? order & 0x7fffffffu : ~order);
}

}  // namespace fused
