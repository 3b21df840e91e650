// SPDX-License-Identifier: Apache-2.0
// Sixteen floats at a time, in the compiler's own vector types.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace fused {

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
inline constexpr int64_t kLanes = 16;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));
typedef int32_t IntLanes __attribute__((vector_size(kLanes * sizeof(int32_t))));
typedef double WideLanes __attribute__((vector_size(kLanes * sizeof(double))));

template <class To = Lanes, class From>
To load(const From* from) {
  To lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

template <class To, class From>
void store(To* to, const From& lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}

// b where a is NaN.
inline Lanes larger(Lanes a, Lanes b) {
  return a > b ? a : b;
}

inline float largest(Lanes lanes) {
  float best = lanes[0];
  for (int64_t k = 1; k < kLanes; ++k) best = lanes[k] > best ? lanes[k] : best;
  return best;
}

// Bit k is set where lane k is above the limit. False for NaN.
inline uint32_t above(Lanes lanes, float limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(lanes), _mm512_set1_ps(limit), _CMP_GT_OQ);
#else
  uint32_t mask = 0;
  for (int64_t k = 0; k < kLanes; ++k) mask |= static_cast<uint32_t>(lanes[k] > limit) << k;
  return mask;
#endif
}

// Bit k is set where lane k reaches the bound.
inline uint32_t reaching(IntLanes lanes, int32_t bound) {
#if defined(__AVX512F__)
  return _mm512_cmpge_epi32_mask(reinterpret_cast<__m512i>(lanes), _mm512_set1_epi32(bound));
#else
  uint32_t mask = 0;
  for (int64_t k = 0; k < kLanes; ++k) mask |= static_cast<uint32_t>(lanes[k] >= bound) << k;
  return mask;
#endif
}

}  // namespace fused
