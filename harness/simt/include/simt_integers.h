// SPDX-License-Identifier: Apache-2.0
// Integer intrinsics: bits, bytes, wide products, dot products.
#pragma once

#include <simt_qualifiers.h>

SIMT_DEVICE int __popc(unsigned int x) {
  return __builtin_popcount(x);
}
SIMT_DEVICE int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
SIMT_DEVICE int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(x);
}
SIMT_DEVICE int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(x);
}
SIMT_DEVICE int __ffs(int x) {
  return __builtin_ffs(x);
}
SIMT_DEVICE int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
SIMT_DEVICE unsigned int __brev(unsigned int x) {
  return __builtin_bitreverse32(x);
}
SIMT_DEVICE unsigned long long __brevll(unsigned long long x) {
  return __builtin_bitreverse64(x);
}
SIMT_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  return __nvvm_prmt(x, y, selector);
}

SIMT_DEVICE int __mulhi(int x, int y) {
  return __nvvm_mulhi_i(x, y);
}
SIMT_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y) {
  return __nvvm_mulhi_ui(x, y);
}
SIMT_DEVICE long long __mul64hi(long long x, long long y) {
  return __nvvm_mulhi_ll(x, y);
}
SIMT_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return __nvvm_mulhi_ull(x, y);
}
SIMT_DEVICE int __mul24(int x, int y) {
  return (int)((unsigned int)(x << 8 >> 8) * (unsigned int)(y << 8 >> 8));
}
SIMT_DEVICE unsigned int __umul24(unsigned int x, unsigned int y) {
  return (x & 0xffffffu) * (y & 0xffffffu);
}
SIMT_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return (x > y ? x - y : y - x) + z;
}
SIMT_DEVICE unsigned int __sad(int x, int y, unsigned int z) {
  return (x > y ? (unsigned int)x - (unsigned int)y : (unsigned int)y - (unsigned int)x) + z;
}

SIMT_DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return (unsigned int)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
SIMT_DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return (unsigned int)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
SIMT_DEVICE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
SIMT_DEVICE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

SIMT_DEVICE int __dp4a(int a, int b, int c) {
  int d;
  __asm__("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
SIMT_DEVICE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  unsigned int d;
  __asm__("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

#define SIMT_BIT_CAST(name, To, From) \
  SIMT_BOTH To name(From x) {         \
    return __builtin_bit_cast(To, x); \
  }
SIMT_BIT_CAST(__float_as_int, int, float)
SIMT_BIT_CAST(__float_as_uint, unsigned int, float)
SIMT_BIT_CAST(__int_as_float, float, int)
SIMT_BIT_CAST(__uint_as_float, float, unsigned int)
SIMT_BIT_CAST(__double_as_longlong, long long, double)
SIMT_BIT_CAST(__longlong_as_double, double, long long)
#undef SIMT_BIT_CAST
SIMT_BOTH int __double2hiint(double x) {
  return (int)(__double_as_longlong(x) >> 32);
}
SIMT_BOTH int __double2loint(double x) {
  return (int)__double_as_longlong(x);
}
SIMT_BOTH double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)high << 32 | (unsigned int)low);
}

SIMT_BOTH int min(int x, int y) {
  return x < y ? x : y;
}
SIMT_BOTH unsigned int min(unsigned int x, unsigned int y) {
  return x < y ? x : y;
}
SIMT_BOTH long min(long x, long y) {
  return x < y ? x : y;
}
SIMT_BOTH unsigned long min(unsigned long x, unsigned long y) {
  return x < y ? x : y;
}
SIMT_BOTH long long min(long long x, long long y) {
  return x < y ? x : y;
}
SIMT_BOTH unsigned long long min(unsigned long long x, unsigned long long y) {
  return x < y ? x : y;
}
SIMT_BOTH float min(float x, float y) {
  return __builtin_fminf(x, y);
}
SIMT_BOTH double min(double x, double y) {
  return __builtin_fmin(x, y);
}
SIMT_BOTH int max(int x, int y) {
  return x > y ? x : y;
}
SIMT_BOTH unsigned int max(unsigned int x, unsigned int y) {
  return x > y ? x : y;
}
SIMT_BOTH long max(long x, long y) {
  return x > y ? x : y;
}
SIMT_BOTH unsigned long max(unsigned long x, unsigned long y) {
  return x > y ? x : y;
}
SIMT_BOTH long long max(long long x, long long y) {
  return x > y ? x : y;
}
SIMT_BOTH unsigned long long max(unsigned long long x, unsigned long long y) {
  return x > y ? x : y;
}
SIMT_BOTH float max(float x, float y) {
  return __builtin_fmaxf(x, y);
}
SIMT_BOTH double max(double x, double y) {
  return __builtin_fmax(x, y);
}
