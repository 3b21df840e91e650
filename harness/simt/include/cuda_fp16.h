// SPDX-License-Identifier: Apache-2.0
// Half precision: __half and __half2 over clang's _Float16, whose operations are f16 and f16x2
// instructions. Functions of hexp's kind are made in single precision and rounded.
#pragma once

#include <cuda_runtime.h>

typedef _Float16 simt_half2 __attribute__((ext_vector_type(2)));

struct __half {
  _Float16 value;
  __half() = default;
  SIMT_MEMBER_BOTH constexpr __half(_Float16 x) : value(x) {}
  SIMT_MEMBER_BOTH constexpr __half(float x) : value((_Float16)x) {}
  SIMT_MEMBER_BOTH constexpr __half(double x) : value((_Float16)x) {}
  SIMT_MEMBER_BOTH constexpr __half(int x) : value((_Float16)x) {}
  SIMT_MEMBER_BOTH constexpr __half(unsigned int x) : value((_Float16)x) {}
  SIMT_MEMBER_BOTH constexpr __half(long long x) : value((_Float16)x) {}
  SIMT_MEMBER_BOTH constexpr operator float() const { return (float)value; }
};
typedef __half half;

struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  SIMT_MEMBER_BOTH constexpr __half2(__half low, __half high) : x(low), y(high) {}
};
typedef __half2 half2;

SIMT_DEVICE simt_half2 simt_pair(__half2 a) {
  return __builtin_bit_cast(simt_half2, a);
}
SIMT_DEVICE __half2 simt_pair(simt_half2 a) {
  return __builtin_bit_cast(__half2, a);
}

SIMT_BOTH __half __float2half(float x) {
  return __half(x);
}
SIMT_BOTH __half __float2half_rn(float x) {
  return __half(x);
}
SIMT_BOTH __half __double2half(double x) {
  return __half(x);
}
SIMT_BOTH float __half2float(__half x) {
  return (float)x.value;
}
SIMT_BOTH __half2 __floats2half2_rn(float low, float high) {
  return {__half(low), __half(high)};
}
SIMT_BOTH __half2 __float22half2_rn(float2 x) {
  return {__half(x.x), __half(x.y)};
}
SIMT_BOTH __half2 __float2half2_rn(float x) {
  return {__half(x), __half(x)};
}
SIMT_BOTH float2 __half22float2(__half2 x) {
  return {(float)x.x, (float)x.y};
}
SIMT_BOTH float __low2float(__half2 x) {
  return x.x;
}
SIMT_BOTH float __high2float(__half2 x) {
  return x.y;
}
SIMT_BOTH __half __low2half(__half2 x) {
  return x.x;
}
SIMT_BOTH __half __high2half(__half2 x) {
  return x.y;
}
SIMT_BOTH __half2 __half2half2(__half x) {
  return {x, x};
}
SIMT_BOTH __half2 __halves2half2(__half low, __half high) {
  return {low, high};
}
SIMT_BOTH __half2 make_half2(__half low, __half high) {
  return {low, high};
}
SIMT_BOTH __half2 __low2half2(__half2 x) {
  return {x.x, x.x};
}
SIMT_BOTH __half2 __high2half2(__half2 x) {
  return {x.y, x.y};
}
SIMT_BOTH __half2 __lowhigh2highlow(__half2 x) {
  return {x.y, x.x};
}
SIMT_BOTH __half2 __lows2half2(__half2 a, __half2 b) {
  return {a.x, b.x};
}
SIMT_BOTH __half2 __highs2half2(__half2 a, __half2 b) {
  return {a.y, b.y};
}
SIMT_BOTH __half __int2half_rn(int x) {
  return __half(x);
}
SIMT_BOTH __half __uint2half_rn(unsigned int x) {
  return __half(x);
}
SIMT_BOTH int __half2int_rz(__half x) {
  return (int)x.value;
}
SIMT_DEVICE int __half2int_rn(__half x) {
  return __float2int_rn(x);
}
SIMT_BOTH unsigned short __half_as_ushort(__half x) {
  return __builtin_bit_cast(unsigned short, x);
}
SIMT_BOTH short __half_as_short(__half x) {
  return __builtin_bit_cast(short, x);
}
SIMT_BOTH __half __ushort_as_half(unsigned short x) {
  return __builtin_bit_cast(__half, x);
}
SIMT_BOTH __half __short_as_half(short x) {
  return __builtin_bit_cast(__half, x);
}

#define SIMT_HALF_TWO(name, operation)                                \
  SIMT_DEVICE __half operator operation(__half a, __half b) {         \
    return {(_Float16)(a.value operation b.value)};                   \
  }                                                                   \
  SIMT_DEVICE __half2 operator operation(__half2 a, __half2 b) {      \
    return simt_pair(simt_pair(a) operation simt_pair(b));            \
  }                                                                   \
  SIMT_DEVICE __half& operator operation##=(__half& a, __half b) {    \
    return a = a operation b;                                         \
  }                                                                   \
  SIMT_DEVICE __half2& operator operation##=(__half2& a, __half2 b) { \
    return a = a operation b;                                         \
  }                                                                   \
  SIMT_DEVICE __half __h##name(__half a, __half b) {                  \
    return a operation b;                                             \
  }                                                                   \
  SIMT_DEVICE __half2 __h##name##2(__half2 a, __half2 b) {            \
    return a operation b;                                             \
  }
SIMT_HALF_TWO(add, +)
SIMT_HALF_TWO(sub, -)
SIMT_HALF_TWO(mul, *)
#undef SIMT_HALF_TWO
SIMT_DEVICE __half operator/(__half a, __half b) {
  return __half((float)a / (float)b);
}
SIMT_DEVICE __half2 operator/(__half2 a, __half2 b) {
  return {a.x / b.x, a.y / b.y};
}
SIMT_DEVICE __half __hdiv(__half a, __half b) {
  return a / b;
}
SIMT_DEVICE __half2 __h2div(__half2 a, __half2 b) {
  return a / b;
}
SIMT_DEVICE __half operator-(__half a) {
  return {(_Float16)-a.value};
}
SIMT_DEVICE __half2 operator-(__half2 a) {
  return simt_pair(-simt_pair(a));
}
SIMT_DEVICE __half __hneg(__half a) {
  return -a;
}
SIMT_DEVICE __half2 __hneg2(__half2 a) {
  return -a;
}
SIMT_DEVICE __half __habs(__half a) {
  return __ushort_as_half(__half_as_ushort(a) & 0x7fff);
}
SIMT_DEVICE __half2 __habs2(__half2 a) {
  return {__habs(a.x), __habs(a.y)};
}
SIMT_DEVICE __half __hfma(__half a, __half b, __half c) {
  unsigned short d;
  __asm__("fma.rn.f16 %0, %1, %2, %3;"
          : "=h"(d)
          : "h"(__half_as_ushort(a)), "h"(__half_as_ushort(b)), "h"(__half_as_ushort(c)));
  return __ushort_as_half(d);
}
SIMT_DEVICE __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  unsigned int d;
  __asm__("fma.rn.f16x2 %0, %1, %2, %3;"
          : "=r"(d)
          : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)),
            "r"(__builtin_bit_cast(unsigned int, c)));
  return __builtin_bit_cast(__half2, d);
}

#define SIMT_HALF_TEST(name, operation)                                    \
  SIMT_DEVICE bool operator operation(__half a, __half b) {                \
    return a.value operation b.value;                                      \
  }                                                                        \
  SIMT_DEVICE bool __h##name(__half a, __half b) {                         \
    return a.value operation b.value;                                      \
  }                                                                        \
  SIMT_DEVICE bool __hb##name##2(__half2 a, __half2 b) {                   \
    return a.x.value operation b.x.value && a.y.value operation b.y.value; \
  }                                                                        \
  SIMT_DEVICE __half2 __h##name##2(__half2 a, __half2 b) {                 \
    return {__half(a.x.value operation b.x.value ? 1.0f : 0.0f),           \
            __half(a.y.value operation b.y.value ? 1.0f : 0.0f)};          \
  }
SIMT_HALF_TEST(eq, ==)
SIMT_HALF_TEST(ne, !=)
SIMT_HALF_TEST(lt, <)
SIMT_HALF_TEST(le, <=)
SIMT_HALF_TEST(gt, >)
SIMT_HALF_TEST(ge, >=)
#undef SIMT_HALF_TEST
SIMT_DEVICE bool __hisnan(__half a) {
  return a.value != a.value;
}
SIMT_DEVICE bool __hisinf(__half a) {
  return (__half_as_ushort(a) & 0x7fff) == 0x7c00;
}
SIMT_DEVICE __half __hmax(__half a, __half b) {
  return __half(fmaxf(a, b));
}
SIMT_DEVICE __half __hmin(__half a, __half b) {
  return __half(fminf(a, b));
}
SIMT_DEVICE __half2 __hmax2(__half2 a, __half2 b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
SIMT_DEVICE __half2 __hmin2(__half2 a, __half2 b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}

#define SIMT_HALF_ONE(name, by_single)        \
  SIMT_DEVICE __half h##name(__half half_x) { \
    const float x = half_x;                   \
    return __half((float)(by_single));        \
  }                                           \
  SIMT_DEVICE __half2 h2##name(__half2 a) {   \
    return {h##name(a.x), h##name(a.y)};      \
  }
SIMT_HALF_ONE(exp, expf(x))
SIMT_HALF_ONE(exp2, exp2f(x))
SIMT_HALF_ONE(exp10, exp10f(x))
SIMT_HALF_ONE(log, logf(x))
SIMT_HALF_ONE(log2, log2f(x))
SIMT_HALF_ONE(log10, log10f(x))
SIMT_HALF_ONE(sqrt, sqrtf(x))
SIMT_HALF_ONE(rsqrt, rsqrtf(x))
SIMT_HALF_ONE(rcp, 1.0f / x)
SIMT_HALF_ONE(sin, sinf(x))
SIMT_HALF_ONE(cos, cosf(x))
SIMT_HALF_ONE(tanh, tanhf(x))
SIMT_HALF_ONE(floor, floorf(x))
SIMT_HALF_ONE(ceil, ceilf(x))
SIMT_HALF_ONE(trunc, truncf(x))
SIMT_HALF_ONE(rint, rintf(x))
#undef SIMT_HALF_ONE

SIMT_DEVICE __half atomicAdd(__half* at, __half value) {
  unsigned short old;
  __asm__ volatile("atom.add.noftz.f16 %0, [%1], %2;"
                   : "=h"(old)
                   : "l"(at), "h"(__half_as_ushort(value))
                   : "memory");
  return __ushort_as_half(old);
}
SIMT_DEVICE __half2 atomicAdd(__half2* at, __half2 value) {
  unsigned int old;
  __asm__ volatile("atom.add.noftz.f16x2 %0, [%1], %2;"
                   : "=r"(old)
                   : "l"(at), "r"(__builtin_bit_cast(unsigned int, value))
                   : "memory");
  return __builtin_bit_cast(__half2, old);
}
