// SPDX-License-Identifier: Apache-2.0
// A sum of exponentials relative to an origin that moves with the maximum.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "lanes.h"

namespace fused {

// exp(scale * (z - origin)) where z is at most 4 / scale above the origin. Where the scale is tiny,
// differences of logits may leave the range of float; where it is huge, the scale times log2(e)
// does. So logits are multiplied by a power of two first, about the root of the scale, and the
// differences by the rest of it. What is lost of numbers near zero is far below one unit.
class Exponential {
 public:
  explicit Exponential(float scale)
      : unit_(std::ldexp(1.0f, std::ilogb(scale) / 2)),
        per_unit_(static_cast<float>(double{scale} / double{unit_} * 1.4426950408889634)),
        lowest_(std::max(-126.0f / per_unit_, std::numeric_limits<float>::lowest())) {}

  void move_to(float origin) { origin_ = origin * unit_; }

  Lanes operator()(Lanes z) const {
    const Lanes d = z * unit_ - origin_;
#if defined(__AVX512DQ__)
    constexpr __mmask16 kAll = 0xffff;  // g++ 12 warns about the intrinsics without a mask
    const __m512 x = reinterpret_cast<__m512>(d * per_unit_);
    const __m512 part = _mm512_maskz_reduce_ps(kAll, x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    return reinterpret_cast<Lanes>(_mm512_maskz_scalef_ps(
        kAll, reinterpret_cast<__m512>(power(reinterpret_cast<Lanes>(part))), x));
#else
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the last bits. What is below 2^-126
    // becomes that, which no sum that holds a number near 1 can notice.
    constexpr float kRound = 12582912.0f;
    const Lanes x = larger(d, Lanes{} + lowest_) * per_unit_;
    const Lanes shifted = (x - 0.5f) + kRound;
    const IntLanes exponent = reinterpret_cast<IntLanes>(shifted) << 23;
    const Lanes factor = power(x - (shifted - kRound));
    return reinterpret_cast<Lanes>(reinterpret_cast<IntLanes>(factor) + exponent);
#endif
  }

 private:
  // 2^r for r in [0, 1]: the polynomial of degree 5 whose largest relative error is least (7.5e-8).
  static Lanes power(Lanes r) {
    Lanes p = r * 1.87757669e-3f + 8.98933969e-3f;
    p = p * r + 5.58263175e-2f;
    p = p * r + 2.40153611e-1f;
    p = p * r + 6.93153083e-1f;
    return p * r + 9.99999940e-1f;
  }

  float unit_;
  float origin_ = 0;
  float per_unit_;
  [[maybe_unused]] float lowest_;
};

// The sum of exp(scale * (z - origin)). The origin follows the maximum, a little behind it; while
// it is -inf nothing but -inf has been seen, and the sum means nothing.
struct Online {
  float origin = kMinusInfinity;
  double sum = 0;

  void move_to(float next, float scale) {
    const double unit = scale;
    sum = origin == kMinusInfinity ? 0 : sum * std::exp(unit * (double{origin} - double{next}));
    origin = next;
  }

  void merge(Online other, float scale) {
    if (other.origin > origin) std::swap(*this, other);
    if (other.origin == kMinusInfinity) return;
    other.move_to(origin, scale);
    sum += other.sum;
  }
};

}  // namespace fused
