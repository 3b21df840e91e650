// SPDX-License-Identifier: Apache-2.0
// ex2.approx and its like. PTX leaves their last bits to the device; here they are polynomials of
// products and fused sums, the same on every machine, with errors below what PTX allows.
namespace gauntlet::simt::SIMT_LANES {

inline float round_near(float x) {
  const float big = bits_of<float>(0x4b400000u);  // 1.5 * 2^23: the sum has no bits below 1
  const float near = (x + big) - big;
  return x > -4194304.0f && x < 4194304.0f ? near : x;
}

/// 2^x: Taylor series on [-1/2, 1/2]; 0.9 units in the last place.
inline float exp2_of(float x) {
  const float most = x > 130.0f ? 130.0f : x;
  const float in = most < -155.0f ? -155.0f : most;
  const float n = round_near(in);
  const float f = in - n;
  float p = 1.5252734e-5f;
  p = __builtin_fmaf(p, f, 1.5403530e-4f);
  p = __builtin_fmaf(p, f, 1.3333558e-3f);
  p = __builtin_fmaf(p, f, 9.6181291e-3f);
  p = __builtin_fmaf(p, f, 5.5504109e-2f);
  p = __builtin_fmaf(p, f, 2.4022651e-1f);
  p = __builtin_fmaf(p, f, 6.9314718e-1f);
  p = __builtin_fmaf(p, f, 1.0f);
  // In two factors, so that neither overflows and a subnormal result is rounded once.
  const s32 whole = s32(x == x ? n : 0.0f);
  const s32 first = whole / 2;
  const float a = bits_of<float>(u32(first + 127) << 23);
  const float b = bits_of<float>(u32(whole - first + 127) << 23);
  return one_nan(x == x ? p * a * b : x);
}

/// log2(x): artanh series of (m-1)/(m+1) with m in [0.7, 1.4]; 2 units in the last place.
inline float log2_of(float x) {
  const bool tiny = x < 1.1754944e-38f;
  const float in = tiny ? x * 16777216.0f : x;
  const u32 bits = bits_of<u32>(in);
  const s32 e = s32(bits - 0x3f3504f3u) >> 23;
  const float m = bits_of<float>(bits - (u32(e) << 23));
  const double u = double(m) - 1.0;
  const double s = u / (double(m) + 1.0);
  const double z = s * s;
  double p = 2.8853900817779268 / 11;
  p = p * z + 2.8853900817779268 / 9;
  p = p * z + 2.8853900817779268 / 7;
  p = p * z + 2.8853900817779268 / 5;
  p = p * z + 2.8853900817779268 / 3;
  p = p * z + 2.8853900817779268;
  const float sum = float(s * p + double(e + (tiny ? -24 : 0)));
  const float special = x == 0.0f ? -__builtin_inff() : x > 0.0f ? x : bits_of<float>(0x7fffffffu);
  return one_nan(x > 0.0f && x < __builtin_inff() ? sum : special);
}

/// sin (quarter 0) or cos (quarter 1) of x, reduced and summed in double precision; NaN from 2^30.
inline float turned(float x, double quarter) {
  const double in = x > -1073741824.0f && x < 1073741824.0f ? double(x) : 0.0;
  const double big = 6755399441055744.0;  // 1.5 * 2^52
  const double n = (in * 0.63661977236758134 + big) - big;
  // The first part of pi/2 has 33 bits: a product would be rounded, the fused difference is exact.
  const double r = __builtin_fma(-n, 1.5707963267341256, in) - n * 6.0771005065061922e-11;
  const double turn = n + quarter;
  const double half = (turn * 0.5 + big) - big;  // nearest whole half turn
  const double odd = turn - 2.0 * half;          // -1, 0 or 1
  const double z = r * r;
  const double sine =
      r * (1.0 +
           z * (-1.0 / 6 +
                z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800))))));
  const double cosine =
      1.0 +
      z * (-0.5 +
           z * (1.0 / 24 + z * (-1.0 / 720 +
                                z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600))))));
  // sin(r + turn * pi/2): the sign of the cosine is that of `odd`, all changes with odd half turns.
  const double pairs = (half * 0.5 + big) - big;
  const double flip = half - 2.0 * pairs != 0.0 ? -1.0 : 1.0;
  const double value = flip * (odd == 0.0 ? sine : odd * cosine);
  const bool known = x > -1073741824.0f && x < 1073741824.0f;
  return known ? float(value) : bits_of<float>(0x7fffffffu);
}

inline float tanh_of(float x) {
  const float size = x < 0.0f ? -x : x;
  const float z = x * x;
  float p = __builtin_fmaf(z, 2.1869488e-2f, -5.3968254e-2f);
  p = __builtin_fmaf(p, z, 1.3333334e-1f);
  p = __builtin_fmaf(p, z, -3.3333334e-1f);
  const float small = __builtin_fmaf(p * z, x, x);
  const float e = exp2_of(size * 2.8853901f);
  const float large = 1.0f - 2.0f / (e + 1.0f);
  return one_nan(x != x ? x : size < 0.3f ? small : x < 0.0f ? -large : large);
}

inline float flushed(float x) {
  const u32 bits = bits_of<u32>(x);
  return bits_of<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

}  // namespace gauntlet::simt::SIMT_LANES
