// SPDX-License-Identifier: Apache-2.0
// Conversions and arithmetic that name their rounding, and the fast approximations.
#pragma once

#include <simt_qualifiers.h>

#define SIMT_CONVERT(name, To, out, From, in, form) \
  SIMT_DEVICE To name(From x) {                     \
    To y;                                           \
    __asm__(form " %0, %1;" : "=" out(y) : in(x));  \
    return y;                                       \
  }
#define SIMT_TO_INTEGER(from, From, in, type)                                             \
  SIMT_CONVERT(__##from##2int_rn, int, "r", From, in, "cvt.rni.s32." type)                \
  SIMT_CONVERT(__##from##2int_rz, int, "r", From, in, "cvt.rzi.s32." type)                \
  SIMT_CONVERT(__##from##2int_rd, int, "r", From, in, "cvt.rmi.s32." type)                \
  SIMT_CONVERT(__##from##2int_ru, int, "r", From, in, "cvt.rpi.s32." type)                \
  SIMT_CONVERT(__##from##2uint_rn, unsigned int, "r", From, in, "cvt.rni.u32." type)      \
  SIMT_CONVERT(__##from##2uint_rz, unsigned int, "r", From, in, "cvt.rzi.u32." type)      \
  SIMT_CONVERT(__##from##2uint_rd, unsigned int, "r", From, in, "cvt.rmi.u32." type)      \
  SIMT_CONVERT(__##from##2uint_ru, unsigned int, "r", From, in, "cvt.rpi.u32." type)      \
  SIMT_CONVERT(__##from##2ll_rn, long long, "l", From, in, "cvt.rni.s64." type)           \
  SIMT_CONVERT(__##from##2ll_rz, long long, "l", From, in, "cvt.rzi.s64." type)           \
  SIMT_CONVERT(__##from##2ull_rn, unsigned long long, "l", From, in, "cvt.rni.u64." type) \
  SIMT_CONVERT(__##from##2ull_rz, unsigned long long, "l", From, in, "cvt.rzi.u64." type)
SIMT_TO_INTEGER(float, float, "f", "f32")
SIMT_TO_INTEGER(double, double, "d", "f64")
SIMT_CONVERT(__double2float_rn, float, "f", double, "d", "cvt.rn.f32.f64")
SIMT_CONVERT(__double2float_rz, float, "f", double, "d", "cvt.rz.f32.f64")
SIMT_CONVERT(__double2float_rd, float, "f", double, "d", "cvt.rm.f32.f64")
SIMT_CONVERT(__double2float_ru, float, "f", double, "d", "cvt.rp.f32.f64")
SIMT_CONVERT(__int2float_rn, float, "f", int, "r", "cvt.rn.f32.s32")
SIMT_CONVERT(__int2float_rz, float, "f", int, "r", "cvt.rz.f32.s32")
SIMT_CONVERT(__uint2float_rn, float, "f", unsigned int, "r", "cvt.rn.f32.u32")
SIMT_CONVERT(__uint2float_rz, float, "f", unsigned int, "r", "cvt.rz.f32.u32")
SIMT_CONVERT(__ll2float_rn, float, "f", long long, "l", "cvt.rn.f32.s64")
SIMT_CONVERT(__ull2float_rn, float, "f", unsigned long long, "l", "cvt.rn.f32.u64")
SIMT_CONVERT(__int2double_rn, double, "d", int, "r", "cvt.rn.f64.s32")
SIMT_CONVERT(__uint2double_rn, double, "d", unsigned int, "r", "cvt.rn.f64.u32")
SIMT_CONVERT(__ll2double_rn, double, "d", long long, "l", "cvt.rn.f64.s64")
SIMT_CONVERT(__ull2double_rn, double, "d", unsigned long long, "l", "cvt.rn.f64.u64")

SIMT_CONVERT(__frcp_rn, float, "f", float, "f", "rcp.rn.f32")
SIMT_CONVERT(__fsqrt_rn, float, "f", float, "f", "sqrt.rn.f32")
SIMT_CONVERT(__drcp_rn, double, "d", double, "d", "rcp.rn.f64")
SIMT_CONVERT(__dsqrt_rn, double, "d", double, "d", "sqrt.rn.f64")
SIMT_CONVERT(__frsqrt_rn, float, "f", float, "f", "rsqrt.approx.f32")
SIMT_CONVERT(__saturatef, float, "f", float, "f", "cvt.sat.f32.f32")
#undef SIMT_TO_INTEGER

// A product in asm is never contracted with a sum, which is what these are called for.
#define SIMT_TWO(name, T, c, form)                        \
  SIMT_DEVICE T name(T x, T y) {                          \
    T z;                                                  \
    __asm__(form " %0, %1, %2;" : "=" c(z) : c(x), c(y)); \
    return z;                                             \
  }
SIMT_TWO(__fadd_rn, float, "f", "add.rn.f32")
SIMT_TWO(__fsub_rn, float, "f", "sub.rn.f32")
SIMT_TWO(__fmul_rn, float, "f", "mul.rn.f32")
SIMT_TWO(__fdiv_rn, float, "f", "div.rn.f32")
SIMT_TWO(__fdividef, float, "f", "div.approx.f32")
SIMT_TWO(__dadd_rn, double, "d", "add.rn.f64")
SIMT_TWO(__dsub_rn, double, "d", "sub.rn.f64")
SIMT_TWO(__dmul_rn, double, "d", "mul.rn.f64")
SIMT_TWO(__ddiv_rn, double, "d", "div.rn.f64")
SIMT_DEVICE float __fmaf_rn(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
SIMT_DEVICE double __fma_rn(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}

// The approximations of PTX (ex2, lg2, sin, cos, tanh), each within 2^-22 or better here.
namespace simt {
SIMT_CONVERT(exp2_approx, float, "f", float, "f", "ex2.approx.f32")
SIMT_CONVERT(log2_approx, float, "f", float, "f", "lg2.approx.f32")
SIMT_CONVERT(sin_approx, float, "f", float, "f", "sin.approx.f32")
SIMT_CONVERT(cos_approx, float, "f", float, "f", "cos.approx.f32")
SIMT_CONVERT(rsqrt_approx, float, "f", float, "f", "rsqrt.approx.f32")
}  // namespace simt
SIMT_DEVICE float __exp2f(float x) {
  return simt::exp2_approx(x);
}
SIMT_DEVICE float __expf(float x) {
  return simt::exp2_approx(x * 1.4426950408889634f);
}
SIMT_DEVICE float __exp10f(float x) {
  return simt::exp2_approx(x * 3.321928094887362f);
}
SIMT_DEVICE float __log2f(float x) {
  return simt::log2_approx(x);
}
SIMT_DEVICE float __logf(float x) {
  return simt::log2_approx(x) * 0.6931471805599453f;
}
SIMT_DEVICE float __log10f(float x) {
  return simt::log2_approx(x) * 0.30102999566398120f;
}
SIMT_DEVICE float __powf(float x, float y) {
  return simt::exp2_approx(y * simt::log2_approx(x));
}
SIMT_DEVICE float __sinf(float x) {
  return simt::sin_approx(x);
}
SIMT_DEVICE float __cosf(float x) {
  return simt::cos_approx(x);
}
SIMT_DEVICE float __tanf(float x) {
  return __fdividef(simt::sin_approx(x), simt::cos_approx(x));
}
SIMT_DEVICE void __sincosf(float x, float* sine, float* cosine) {
  *sine = simt::sin_approx(x);
  *cosine = simt::cos_approx(x);
}
SIMT_DEVICE float __tanhf(float x) {
  float y;
  __asm__("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#undef SIMT_TWO
#undef SIMT_CONVERT
