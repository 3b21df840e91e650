// SPDX-License-Identifier: Apache-2.0
// Half precision and bfloat16 as bits, and what all floating-point results have in common.
namespace gauntlet::simt::SIMT_LANES {

// Every NaN that arithmetic makes is this one. PTX says so for single precision; for the others it
// keeps results from depending on which operand a compiler puts first.
inline float one_nan(float x) {
  return x == x ? x : bits_of<float>(0x7fffffffu);
}
inline double one_nan(double x) {
  return x == x ? x : bits_of<double>(0x7fffffffffffffffull);
}

inline float half_to_single(u16 h) {
  const u32 magnitude = h & 0x7fffu;
  const u32 sign = u32(h & 0x8000u) << 16;
  // Shifted into place a half has the exponent 112 too low, which one exact product mends.
  const float scaled = bits_of<float>(magnitude << 13) * bits_of<float>(0x77800000u);  // 2^112
  const u32 finite = bits_of<u32>(scaled);
  const u32 special = 0x7f800000u | (magnitude << 13);
  return bits_of<float>(sign | (magnitude >= 0x7c00u ? special : finite));
}

/// Nearest, ties to even.
inline u16 single_to_half(float x) {
  const u32 bits = bits_of<u32>(x);
  const u32 sign = (bits >> 16) & 0x8000u;
  const u32 magnitude = bits & 0x7fffffffu;
  const u32 normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Below 2^-14 the sum with 0.5 has one unit of the smallest half as its last bit.
  const float moved = bits_of<float>(magnitude < 0x38800000u ? magnitude : 0u) + 0.5f;
  const u32 small = bits_of<u32>(moved) - 0x3f000000u;
  u32 half = magnitude < 0x38800000u ? small : normal;
  half = magnitude >= 0x477ff000u ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? 0x7fffu : half;
  return u16(magnitude > 0x7f800000u ? half : (sign | half));
}

inline float bfloat_to_single(u16 b) {
  return bits_of<float>(u32(b) << 16);
}

inline u16 single_to_bfloat(float x) {
  const u32 bits = bits_of<u32>(x);
  const u32 rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return u16((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
}

/// A double as a float whose last bit says that something was rounded away: rounding it again to
/// fewer bits is as good as rounding the double.
inline float to_odd(double x) {
  const float near = float(x);
  const u32 bits = bits_of<u32>(near);
  const double back = near;
  const bool exact = !(back < x) && !(back > x);
  const double size = x < 0 ? -x : x;
  const double back_size = back < 0 ? -back : back;
  const u32 moved = back_size > size ? bits - 1 : bits;  // towards zero
  return bits_of<float>(exact || (bits & 0x7fffffffu) > 0x7f800000u ? bits : (moved | 1u));
}

inline u16 double_to_half(double x) {
  return single_to_half(to_odd(x));
}
inline u16 double_to_bfloat(double x) {
  return single_to_bfloat(to_odd(x));
}

/// a + b in the same way: the rest of the rounded sum is exact, and tells where the true one lies.
inline double sum_to_odd(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  const double rest = (a - (sum - part)) + (b - part);
  const u64 bits = bits_of<u64>(sum);
  const bool inexact = rest < 0 || rest > 0;  // not so where the sum is infinite: the rest is NaN
  const bool shrinks = (rest < 0) != (sum < 0);
  const u64 odd = shrinks ? bits - 1 : bits + 1;
  return bits_of<double>(inexact && (bits & 1) == 0 ? odd : bits);
}

// The product of two halves, or of two bfloats, is exact in double precision.
inline u16 half_fma(u16 a, u16 b, u16 c) {
  return double_to_half(
      sum_to_odd(double(half_to_single(a)) * double(half_to_single(b)), double(half_to_single(c))));
}
inline u16 bfloat_fma(u16 a, u16 b, u16 c) {
  return double_to_bfloat(sum_to_odd(double(bfloat_to_single(a)) * double(bfloat_to_single(b)),
                                     double(bfloat_to_single(c))));
}

template <class T, class Bits>
inline T lesser(T a, T b, Bits /*of the type*/) {
  const T zeros = bits_of<T>(Bits(bits_of<Bits>(a) | bits_of<Bits>(b)));  // -0 is less than +0
  return one_nan(a != a ? b : b != b ? a : a < b ? a : b < a ? b : zeros);
}
template <class T, class Bits>
inline T greater(T a, T b, Bits /*of the type*/) {
  const T zeros = bits_of<T>(Bits(bits_of<Bits>(a) & bits_of<Bits>(b)));
  return one_nan(a != a ? b : b != b ? a : a > b ? a : b > a ? b : zeros);
}

}  // namespace gauntlet::simt::SIMT_LANES
