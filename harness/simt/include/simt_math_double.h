// SPDX-License-Identifier: Apache-2.0
// Elementary functions in double precision, on which the single precision ones stand. Each is
// within 4 units in the last place unless it says otherwise (tests/simt compares them with a long
// double library); arguments of sin and cos are reduced exactly below 2^30 and are NaN above, so
// that a kernel that meets them there is seen.
#pragma once

#include <simt_qualifiers.h>

namespace simt {

SIMT_DEVICE double fma(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}
SIMT_DEVICE double infinity() {
  return __builtin_inf();
}
SIMT_DEVICE double nan() {
  return __builtin_nan("");
}
SIMT_DEVICE long long bits(double x) {
  return __builtin_bit_cast(long long, x);
}
SIMT_DEVICE double from_bits(long long x) {
  return __builtin_bit_cast(double, x);
}

/// x * 2^n for any n, rounded once unless the result is subnormal.
SIMT_DEVICE double scale(double x, int n) {
  n = n > 2200 ? 2200 : n < -2200 ? -2200 : n;
  const int half = n / 2;
  const int quarter = half / 2;
  x *= from_bits((long long)(1023 + quarter) << 52) * 1.0;
  x *= from_bits((long long)(1023 + half - quarter) << 52);
  return x * from_bits((long long)(1023 + (n - half) / 2) << 52) *
         from_bits((long long)(1023 + (n - half) - (n - half) / 2) << 52);
}

/// exp(r + tail) for |r| <= ln(2)/2: the Taylor series to r^13, whose rest is below 2^-57.
SIMT_DEVICE double exp_series(double r) {
  double p = 1.0 / 6227020800;
  p = fma(p, r, 1.0 / 479001600);
  p = fma(p, r, 1.0 / 39916800);
  p = fma(p, r, 1.0 / 3628800);
  p = fma(p, r, 1.0 / 362880);
  p = fma(p, r, 1.0 / 40320);
  p = fma(p, r, 1.0 / 5040);
  p = fma(p, r, 1.0 / 720);
  p = fma(p, r, 1.0 / 120);
  p = fma(p, r, 1.0 / 24);
  p = fma(p, r, 1.0 / 6);
  p = fma(p, r, 0.5);
  return fma(p * r, r, r);  // exp(r) - 1
}

/// exp(x + tail) * 2^shift, for a shift of 0 or -1.
SIMT_DEVICE double exp_with_tail(double x, double tail, int shift = 0) {
  if (x != x) return x;
  if (x > 709.79 - shift) return infinity();
  if (x < -745.2) return 0;
  const double n = __builtin_rint(x * 1.4426950408889634);
  const double r = fma(n, -1.9082149292705877e-10, fma(n, -0.6931471803691238, x)) + tail;
  return scale(1 + exp_series(r), (int)n + shift);
}

SIMT_DEVICE double expm1(double x) {
  if (__builtin_fabs(x) < 0.34) return exp_series(x);
  return x > 709.79 ? infinity() : exp_with_tail(x, 0) - 1;
}

/// By e^|x|: where it is large, half of it.
SIMT_DEVICE double sinh(double x) {
  const double ax = __builtin_fabs(x);
  const double u = expm1(ax);
  return __builtin_copysign(ax < 22 ? (u + u / (u + 1)) * 0.5 : exp_with_tail(ax, 0, -1), x);
}
SIMT_DEVICE double cosh(double x) {
  const double ax = __builtin_fabs(x);
  return ax < 22 ? (exp_with_tail(ax, 0) + exp_with_tail(-ax, 0)) * 0.5 : exp_with_tail(ax, 0, -1);
}

/// A logarithm as a sum of two doubles, for pow, which needs 11 bits more than a double has.
struct Sum {
  double high, low;
};
SIMT_DEVICE Sum two_sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

/// log(x) for finite x > 0: with m in [sqrt(1/2), sqrt(2)) and s = (m-1)/(m+1), twice the series of
/// artanh(s) to s^21, whose rest is below 2^-60.
SIMT_DEVICE Sum log_sum(double x) {
  int e = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984.0;  // 2^54
    e = -54;
  }
  e += (int)((bits(x) >> 52) & 2047) - 1023;
  double m = from_bits((bits(x) & 0xfffffffffffffll) | 0x3ff0000000000000ll);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    e += 1;
  }
  const double d = m + 1, u = m - 1;
  const double s = u / d;
  const double rest = fma(-s, d, u) - s * (m - (d - 1));  // of the division and of m + 1
  const double s_low = rest / d;
  const double z = s * s;
  double p = 1.0 / 21;
  p = fma(p, z, 1.0 / 19);
  p = fma(p, z, 1.0 / 17);
  p = fma(p, z, 1.0 / 15);
  p = fma(p, z, 1.0 / 13);
  p = fma(p, z, 1.0 / 11);
  p = fma(p, z, 1.0 / 9);
  p = fma(p, z, 1.0 / 7);
  p = fma(p, z, 1.0 / 5);
  // The term z/3 is the largest correction: it is carried as a sum.
  const double third = z / 3;
  const double third_low = fma(-3.0, third, z) / 3 + fma(s, s, -z) / 3 + p * z * z;
  const double c = 2 * s * third;
  const double c_low = fma(2 * s, third, -c) + 2 * s * third_low + 2 * s_low * third;
  Sum sum = two_sum(2 * s, c);
  sum.low += c_low + 2 * s_low;
  const double n = e;
  Sum all = two_sum(n * 0.6931471803691238, sum.high);
  all.low += sum.low + n * 1.9082149292705877e-10;
  return two_sum(all.high, all.low);
}

SIMT_DEVICE double log(double x) {
  if (!(x > 0)) return x == 0 ? -infinity() : nan();
  if (x == infinity()) return x;
  const Sum sum = log_sum(x);
  return sum.high + sum.low;
}

/// By the logarithm, whose rounding a large exponent makes larger; then one step of Newton's, with
/// a cube whose rounding is known. Tiny numbers are scaled, so that it is for them as well.
SIMT_DEVICE double cbrt(double x) {
  if (x == 0 || x != x || __builtin_isinf(x)) return x;
  const bool tiny = __builtin_fabs(x) < 1e-280;
  const double ax = __builtin_fabs(x) *
                    (tiny ? 5846006549323611672814739330865132078623730171904.0 : 1.0);  // 2^162
  const double y = exp_with_tail(log(ax) / 3, 0);
  const double square = y * y;
  const double off = fma(square, y, -ax) + fma(y, y, -square) * y;
  const double root = y - off / (3 * square);
  return __builtin_copysign(tiny ? root * 5.5511151231257827e-17 : root, x);  // 2^-54
}

/// Of numbers near 1: squares of others may be 0 or infinite.
SIMT_DEVICE double hypot(double x, double y) {
  const double ax = __builtin_fabs(x), ay = __builtin_fabs(y);
  if (ax == infinity() || ay == infinity()) return infinity();
  if (x != x || y != y) return nan();
  const double most = ax > ay ? ax : ay, least = ax > ay ? ay : ax;
  if (most == 0) return 0;
  const int n = 1023 - (int)(bits(most) >> 52);
  const double a = scale(most, n), b = scale(least, n);
  return scale(__builtin_sqrt(fma(a, a, b * b)), -n);
}

SIMT_DEVICE double log1p(double x) {
  if (x <= -1 || x != x || x == infinity()) return log(1 + x);
  const double u = 1 + x;
  const double lost = u - 1 > x ? x - (u - 1) : x - (u - 1);
  return u == 1 ? x : log(u) + lost / u;
}

SIMT_DEVICE double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return nan();
  const double ax = __builtin_fabs(x), ay = __builtin_fabs(y);
  const bool whole = ay >= 9007199254740992.0 || y == __builtin_trunc(y);
  const bool odd = whole && ay < 9007199254740992.0 && ((long long)y & 1);
  double r;
  if (ax == 1 && ay == infinity()) return 1;
  if (ax == 0 || ax == infinity() || ay == infinity()) {
    r = (ax > 1) == (y > 0) ? infinity() : 0;
  } else {
    if (x < 0 && !whole) return nan();
    const Sum l = log_sum(ax);
    const double high = y * l.high;
    if (high > 710 || high < -746) {
      r = high > 0 ? infinity() : 0;
    } else {
      r = exp_with_tail(high, fma(y, l.high, -high) + y * l.low);
    }
  }
  return (bits(x) < 0 && odd) ? -r : r;
}

/// x - n*pi/2 with |result| <= pi/4 and n's last two bits; pi/2 in four parts of 33 bits.
SIMT_DEVICE double reduce(double x, int* quadrant) {
  const double n = __builtin_rint(x * 0.63661977236758134);
  *quadrant = (int)(long long)n & 3;
  const double a = fma(-n, 1.5707963267341256, x);
  const double b = fma(-n, 6.0771005063039e-11, a);
  const double lost = fma(-n, 6.0771005063039e-11, a - b);
  return b + (lost - n * 2.0222662487959506e-21);
}
SIMT_DEVICE double sin_series(double x) {
  const double z = x * x;
  double p = -1.0 / 1307674368000;
  p = fma(p, z, 1.0 / 6227020800);
  p = fma(p, z, -1.0 / 39916800);
  p = fma(p, z, 1.0 / 362880);
  p = fma(p, z, -1.0 / 5040);
  p = fma(p, z, 1.0 / 120);
  p = fma(p, z, -1.0 / 6);
  return fma(p * z, x, x);
}
SIMT_DEVICE double cos_series(double x) {
  const double z = x * x;
  double p = 1.0 / 20922789888000;
  p = fma(p, z, -1.0 / 87178291200);
  p = fma(p, z, 1.0 / 479001600);
  p = fma(p, z, -1.0 / 3628800);
  p = fma(p, z, 1.0 / 40320);
  p = fma(p, z, -1.0 / 720);
  p = fma(p, z, 1.0 / 24);
  return fma(p * z, z, fma(-0.5, z, 1.0));
}
SIMT_DEVICE double turned(double x, int quarters) {
  if (!(__builtin_fabs(x) < 1073741824.0)) return nan();
  int q;
  const double r = reduce(x, &q);
  q += quarters;
  const double y = (q & 1) ? cos_series(r) : sin_series(r);
  return (q & 2) ? -y : y;
}

/// Fraction folded into [0, tan(pi/8)], then the series to x^41, whose rest is below 2^-56.
SIMT_DEVICE double atan(double x) {
  const double ax = __builtin_fabs(x);
  double base = 0, base_low = 0, t = ax;
  if (ax > 2.414213562373095) {
    base = 1.5707963267948966;
    base_low = 6.123233995736766e-17;
    t = -1 / ax;
  } else if (ax > 0.41421356237309503) {
    base = 0.7853981633974483;
    base_low = 3.061616997868383e-17;
    t = (ax - 1) / (ax + 1);
  }
  const double z = t * t;
  double p = 0;
  for (int k = 41; k >= 3; k -= 2) p = fma(p, z, ((k & 2) ? -1.0 : 1.0) / k);
  return __builtin_copysign(base + (t + fma(p * z, t, base_low)), x);
}

/// erf by its series below 2, erfc by its continued fraction above; absolute error below 2^-48.
SIMT_DEVICE double erfc_fraction(double x) {
  double f = x;
  for (int k = 60; k >= 1; --k) f = x + (0.5 * k) / f;
  return exp_with_tail(-x * x, fma(-x, x, x * x)) * 0.56418958354775629 / f;
}
SIMT_DEVICE double erf(double x) {
  const double ax = __builtin_fabs(x);
  if (ax > 2) return __builtin_copysign(ax > 6 ? 1 : 1 - erfc_fraction(ax), x);
  const double z = x * x;
  double term = x, sum = x;
  for (int k = 1; k < 40; ++k) {
    term *= -z / k;
    sum += term / (2 * k + 1);
  }
  return sum * 1.1283791670955126;
}
SIMT_DEVICE double erfc(double x) {
  if (x > 2) return x > 27.5 ? 0 : erfc_fraction(x);
  return 1 - erf(x);
}

SIMT_DEVICE double fmod(double x, double y) {
  double r = __builtin_fabs(x);
  const double ay = __builtin_fabs(y);
  if (!(r < infinity()) || !(ay > 0)) return nan();
  while (r >= ay) {  // takes up to 52 bits of the quotient at once
    const int gap = (int)(bits(r) >> 52) - (int)(bits(ay) >> 52);
    const double part = gap > 50 ? scale(ay, gap - 50) : ay;
    double q = __builtin_trunc(r / part);
    double rest = fma(-q, part, r);
    if (rest < 0) rest += part;
    r = rest;
  }
  return __builtin_copysign(r, x);
}

}  // namespace simt
