// SPDX-License-Identifier: Apache-2.0
// The mathematical functions of CUDA C++. Single precision comes from double precision, rounded
// once more, so that its error is 0.51 units in the last place; expf, exp2f, logf and log2f, which
// kernels call in their inner loops, are single precision throughout and within 2 units.
#pragma once

#include <simt_math_double.h>
#include <simt_qualifiers.h>
#include <simt_rounding.h>

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

#define SIMT_ONE(name, by_double)           \
  SIMT_DEVICE double name(double x) {       \
    return by_double;                       \
  }                                         \
  SIMT_DEVICE float name##f(float single) { \
    const double x = single;                \
    return (float)(by_double);              \
  }                                         \
  SIMT_DEVICE float name(float x) {         \
    return name##f(x);                      \
  }
#define SIMT_ONE_DOUBLE(name, by_double) \
  SIMT_DEVICE double name(double x) {    \
    return by_double;                    \
  }

SIMT_ONE_DOUBLE(exp, simt::exp_with_tail(x, 0))
SIMT_ONE_DOUBLE(log, simt::log(x))
SIMT_ONE_DOUBLE(exp2,
                (x != x || x > 1024 || x < -1080)
                    ? simt::exp_with_tail(x * 0.6931471805599453, 0)
                    : simt::scale(simt::exp_with_tail((x - __builtin_rint(x)) * 0.6931471805599453,
                                                      0),
                                  (int)__builtin_rint(x)))
SIMT_ONE_DOUBLE(log2, simt::log(x) * 1.4426950408889634)

/// 2^(x*log2(e)); what the product rounds away is put back as a factor near 1. Beyond the bounds
/// the result is 0 or infinite, and no branch is needed for it.
SIMT_DEVICE float expf(float x) {
  const float in = __builtin_fmaxf(__builtin_fminf(x, 89.0f), -104.0f);
  const float y = in * 1.44269502f;
  const float lost = __builtin_fmaf(in, 1.44269502f, -y) + in * 1.92596303e-8f;
  const float e = simt::exp2_approx(y);
  return x == x ? __builtin_fmaf(e, lost * 0.693147181f, e) : x;
}
SIMT_DEVICE float exp2f(float x) {
  return simt::exp2_approx(x);
}
SIMT_DEVICE float log2f(float x) {
  return simt::log2_approx(x);
}
SIMT_DEVICE float logf(float x) {
  const float y = simt::log2_approx(x);
  const bool finite = y - y == 0;  // else the two products are infinite and of different signs
  return finite ? __builtin_fmaf(y, 0.69314718f, y * -1.9046542e-09f) : y;
}
SIMT_DEVICE float exp(float x) {
  return expf(x);
}
SIMT_DEVICE float exp2(float x) {
  return exp2f(x);
}
SIMT_DEVICE float log(float x) {
  return logf(x);
}
SIMT_DEVICE float log2(float x) {
  return log2f(x);
}

SIMT_ONE(exp10, simt::pow(10.0, x))
SIMT_ONE(expm1, simt::expm1(x))
SIMT_ONE(log10, simt::log(x) * 0.4342944819032518)
SIMT_ONE(log1p, simt::log1p(x))
SIMT_ONE(sin, x == 0 ? x : simt::turned(x, 0))
SIMT_ONE(cos, simt::turned(x, 1))
SIMT_ONE(tan, x == 0 ? x : simt::turned(x, 0) / simt::turned(x, 1))
SIMT_ONE(sinpi, simt::turned((x - 2 * __builtin_rint(x / 2)) * 3.141592653589793, 0))
SIMT_ONE(cospi, simt::turned((x - 2 * __builtin_rint(x / 2)) * 3.141592653589793, 1))
SIMT_ONE(atan, simt::atan(x))
SIMT_ONE(asin, simt::atan(x / __builtin_sqrt((1 - x) * (1 + x))))
SIMT_ONE(acos, 2 * simt::atan(__builtin_sqrt((1 - x) / (1 + x))))
SIMT_ONE(sinh, simt::sinh(x))
SIMT_ONE(cosh, simt::cosh(x))
SIMT_ONE(tanh, __builtin_fabs(x) > 22 ? __builtin_copysign(1.0, x)
                                      : simt::expm1(2 * x) / (simt::expm1(2 * x) + 2))
SIMT_ONE(erf, simt::erf(x))
SIMT_ONE(erfc, simt::erfc(x))
SIMT_ONE(normcdf, 0.5 * simt::erfc(x * -0.7071067811865476))
SIMT_ONE(cbrt, simt::cbrt(x))
#undef SIMT_ONE
#undef SIMT_ONE_DOUBLE

#define SIMT_TWO(name, by_double)                        \
  SIMT_DEVICE double name(double x, double y) {          \
    return by_double;                                    \
  }                                                      \
  SIMT_DEVICE float name##f(float first, float second) { \
    const double x = first, y = second;                  \
    return (float)(by_double);                           \
  }                                                      \
  SIMT_DEVICE float name(float x, float y) {             \
    return name##f(x, y);                                \
  }
SIMT_TWO(pow, simt::pow(x, y))
SIMT_TWO(fmod, simt::fmod(x, y))
SIMT_TWO(fdim, x > y ? x - y : (x != x || y != y) ? simt::nan() : 0)
SIMT_TWO(atan2, x != x || y != y ? simt::nan()
                : y > 0 || (y == 0 && x == 0 && !__builtin_signbit(y))
                    ? (x == 0 ? x : simt::atan(x / y))
                : y == 0 ? __builtin_copysign(x == 0 ? 3.141592653589793 : 1.5707963267948966, x)
                         : simt::atan(x / y) + __builtin_copysign(3.141592653589793, x))
SIMT_TWO(hypot, simt::hypot(x, y))
#undef SIMT_TWO
SIMT_DEVICE double pow(double x, int y) {
  return simt::pow(x, y);
}
SIMT_DEVICE float pow(float x, int y) {
  return (float)simt::pow(x, y);
}
SIMT_DEVICE float rnorm3df(float x, float y, float z) {
  return simt::rsqrt_approx(x * x + y * y + z * z);
}

// What clang turns into one instruction, or a few, by itself.
#define SIMT_BUILTIN(name)             \
  SIMT_DEVICE double name(double x) {  \
    return __builtin_##name(x);        \
  }                                    \
  SIMT_DEVICE float name##f(float x) { \
    return __builtin_##name##f(x);     \
  }                                    \
  SIMT_DEVICE float name(float x) {    \
    return __builtin_##name##f(x);     \
  }
SIMT_BUILTIN(fabs)
SIMT_BUILTIN(sqrt)
SIMT_BUILTIN(floor)
SIMT_BUILTIN(ceil)
SIMT_BUILTIN(trunc)
SIMT_BUILTIN(round)
SIMT_BUILTIN(rint)
SIMT_BUILTIN(nearbyint)
#undef SIMT_BUILTIN
#define SIMT_BUILTIN(name)                      \
  SIMT_DEVICE double name(double x, double y) { \
    return __builtin_##name(x, y);              \
  }                                             \
  SIMT_DEVICE float name##f(float x, float y) { \
    return __builtin_##name##f(x, y);           \
  }                                             \
  SIMT_DEVICE float name(float x, float y) {    \
    return __builtin_##name##f(x, y);           \
  }
SIMT_BUILTIN(fmin)
SIMT_BUILTIN(fmax)
SIMT_BUILTIN(copysign)
#undef SIMT_BUILTIN
SIMT_DEVICE float abs(float x) {
  return __builtin_fabsf(x);
}
SIMT_DEVICE double abs(double x) {
  return __builtin_fabs(x);
}
SIMT_DEVICE int abs(int x) {
  return x < 0 ? -x : x;
}
SIMT_DEVICE long abs(long x) {
  return x < 0 ? -x : x;
}
SIMT_DEVICE long long abs(long long x) {
  return x < 0 ? -x : x;
}
SIMT_DEVICE long long llabs(long long x) {
  return x < 0 ? -x : x;
}
SIMT_DEVICE double fma(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}
SIMT_DEVICE float fmaf(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
SIMT_DEVICE float fma(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
SIMT_DEVICE float rsqrtf(float x) {
  return simt::rsqrt_approx(x);
}
SIMT_DEVICE float rsqrt(float x) {
  return simt::rsqrt_approx(x);
}
SIMT_DEVICE double rsqrt(double x) {
  return 1 / __builtin_sqrt(x);
}
SIMT_DEVICE float fdividef(float x, float y) {
  return __fdividef(x, y);
}
SIMT_DEVICE float ldexpf(float x, int n) {
  return (float)simt::scale(x, n);
}
SIMT_DEVICE double ldexp(double x, int n) {
  return simt::scale(x, n);
}
SIMT_DEVICE float scalbnf(float x, int n) {
  return ldexpf(x, n);
}
SIMT_DEVICE long lrintf(float x) {
  return __float2ll_rn(x);
}
SIMT_DEVICE long lroundf(float x) {
  return (long)__builtin_roundf(x);
}
SIMT_DEVICE void sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
SIMT_DEVICE void sincos(double x, double* sine, double* cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}

#define SIMT_TEST(name)             \
  SIMT_DEVICE bool name(double x) { \
    return __builtin_##name(x);     \
  }                                 \
  SIMT_DEVICE bool name(float x) {  \
    return __builtin_##name(x);     \
  }
SIMT_TEST(isnan)
SIMT_TEST(isinf)
SIMT_TEST(isfinite)
SIMT_TEST(signbit)
#undef SIMT_TEST
