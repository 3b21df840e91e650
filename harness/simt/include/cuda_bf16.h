// SPDX-License-Identifier: Apache-2.0
// bfloat16. Compute capability 8.0 adds and multiplies it in single precision and rounds; its fused
// multiply-add is an instruction.
#pragma once

#include <cuda_runtime.h>

struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  SIMT_MEMBER_BOTH __nv_bfloat16(float x) : bits(__builtin_bit_cast(unsigned short, (__bf16)x)) {}
  SIMT_MEMBER_BOTH __nv_bfloat16(double x) : __nv_bfloat16((float)x) {}
  SIMT_MEMBER_BOTH __nv_bfloat16(int x) : __nv_bfloat16((float)x) {}
  SIMT_MEMBER_BOTH operator float() const {
    return __builtin_bit_cast(float, (unsigned int)bits << 16);
  }
};
typedef __nv_bfloat16 nv_bfloat16;

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  SIMT_MEMBER_BOTH __nv_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) : x(low), y(high) {}
};
typedef __nv_bfloat162 nv_bfloat162;

SIMT_BOTH __nv_bfloat16 __float2bfloat16(float x) {
  return x;
}
SIMT_BOTH __nv_bfloat16 __float2bfloat16_rn(float x) {
  return x;
}
SIMT_BOTH __nv_bfloat16 __double2bfloat16(double x) {
  return x;
}
SIMT_BOTH float __bfloat162float(__nv_bfloat16 x) {
  return x;
}
SIMT_BOTH __nv_bfloat162 __floats2bfloat162_rn(float low, float high) {
  return {low, high};
}
SIMT_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 x) {
  return {x.x, x.y};
}
SIMT_BOTH __nv_bfloat162 __float2bfloat162_rn(float x) {
  return {x, x};
}
SIMT_BOTH float2 __bfloat1622float2(__nv_bfloat162 x) {
  return {(float)x.x, (float)x.y};
}
SIMT_BOTH float __low2float(__nv_bfloat162 x) {
  return x.x;
}
SIMT_BOTH float __high2float(__nv_bfloat162 x) {
  return x.y;
}
SIMT_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) {
  return x.x;
}
SIMT_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) {
  return x.y;
}
SIMT_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) {
  return {x, x};
}
SIMT_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) {
  return {low, high};
}
SIMT_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) {
  return x.bits;
}
SIMT_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
  return __builtin_bit_cast(__nv_bfloat16, x);
}

#define SIMT_BFLOAT_TWO(name, operation)                                                \
  SIMT_DEVICE __nv_bfloat16 operator operation(__nv_bfloat16 a, __nv_bfloat16 b) {      \
    return (float)a operation(float) b;                                                 \
  }                                                                                     \
  SIMT_DEVICE __nv_bfloat162 operator operation(__nv_bfloat162 a, __nv_bfloat162 b) {   \
    return {a.x operation b.x, a.y operation b.y};                                      \
  }                                                                                     \
  SIMT_DEVICE __nv_bfloat16& operator operation##=(__nv_bfloat16& a, __nv_bfloat16 b) { \
    return a = a operation b;                                                           \
  }                                                                                     \
  SIMT_DEVICE __nv_bfloat16 __h##name(__nv_bfloat16 a, __nv_bfloat16 b) {               \
    return a operation b;                                                               \
  }                                                                                     \
  SIMT_DEVICE __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b) {         \
    return a operation b;                                                               \
  }
SIMT_BFLOAT_TWO(add, +)
SIMT_BFLOAT_TWO(sub, -)
SIMT_BFLOAT_TWO(mul, *)
#undef SIMT_BFLOAT_TWO
SIMT_DEVICE __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) {
  return (float)a / (float)b;
}
SIMT_DEVICE __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) {
  return a / b;
}
SIMT_DEVICE __nv_bfloat16 operator-(__nv_bfloat16 a) {
  return __ushort_as_bfloat16(a.bits ^ 0x8000);
}
SIMT_DEVICE __nv_bfloat16 __hneg(__nv_bfloat16 a) {
  return -a;
}
SIMT_DEVICE __nv_bfloat16 __habs(__nv_bfloat16 a) {
  return __ushort_as_bfloat16(a.bits & 0x7fff);
}
SIMT_DEVICE __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  unsigned short d;
  __asm__("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(d) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return __ushort_as_bfloat16(d);
}
SIMT_DEVICE __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
SIMT_DEVICE __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) {
  return fmaxf(a, b);
}
SIMT_DEVICE __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) {
  return fminf(a, b);
}
SIMT_DEVICE bool __hisnan(__nv_bfloat16 a) {
  return (a.bits & 0x7fff) > 0x7f80;
}

#define SIMT_BFLOAT_TEST(name, operation)                                 \
  SIMT_DEVICE bool operator operation(__nv_bfloat16 a, __nv_bfloat16 b) { \
    return (float)a operation(float) b;                                   \
  }                                                                       \
  SIMT_DEVICE bool __h##name(__nv_bfloat16 a, __nv_bfloat16 b) {          \
    return a operation b;                                                 \
  }
SIMT_BFLOAT_TEST(eq, ==)
SIMT_BFLOAT_TEST(ne, !=)
SIMT_BFLOAT_TEST(lt, <)
SIMT_BFLOAT_TEST(le, <=)
SIMT_BFLOAT_TEST(gt, >)
SIMT_BFLOAT_TEST(ge, >=)
#undef SIMT_BFLOAT_TEST

#define SIMT_BFLOAT_ONE(name, call)                    \
  SIMT_DEVICE __nv_bfloat16 h##name(__nv_bfloat16 x) { \
    return call((float)x);                             \
  }
SIMT_BFLOAT_ONE(exp, expf)
SIMT_BFLOAT_ONE(log, logf)
SIMT_BFLOAT_ONE(sqrt, sqrtf)
SIMT_BFLOAT_ONE(rsqrt, rsqrtf)
#undef SIMT_BFLOAT_ONE
