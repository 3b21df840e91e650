// SPDX-License-Identifier: Apache-2.0
// CUDA's short vectors and dim3, with the sizes and alignments that the CUDA C++ Programming Guide
// lists ("Built-in Vector Types"), and their make_ functions.
#pragma once

#include <simt_qualifiers.h>

#define SIMT_VECTOR(name, T, one, two, four)             \
  struct alignas(one) name##1 {                          \
    T x;                                                 \
  };                                                     \
  struct alignas(two) name##2 {                          \
    T x, y;                                              \
  };                                                     \
  struct name##3 {                                       \
    T x, y, z;                                           \
  };                                                     \
  struct alignas(four) name##4 {                         \
    T x, y, z, w;                                        \
  };                                                     \
  SIMT_BOTH name##1 make_##name##1(T x) {                \
    return {x};                                          \
  }                                                      \
  SIMT_BOTH name##2 make_##name##2(T x, T y) {           \
    return {x, y};                                       \
  }                                                      \
  SIMT_BOTH name##3 make_##name##3(T x, T y, T z) {      \
    return {x, y, z};                                    \
  }                                                      \
  SIMT_BOTH name##4 make_##name##4(T x, T y, T z, T w) { \
    return {x, y, z, w};                                 \
  }

SIMT_VECTOR(char, signed char, 1, 2, 4)
SIMT_VECTOR(uchar, unsigned char, 1, 2, 4)
SIMT_VECTOR(short, short, 2, 4, 8)
SIMT_VECTOR(ushort, unsigned short, 2, 4, 8)
SIMT_VECTOR(int, int, 4, 8, 16)
SIMT_VECTOR(uint, unsigned int, 4, 8, 16)
SIMT_VECTOR(long, long, 8, 16, 16)
SIMT_VECTOR(ulong, unsigned long, 8, 16, 16)
SIMT_VECTOR(longlong, long long, 8, 16, 16)
SIMT_VECTOR(ulonglong, unsigned long long, 8, 16, 16)
SIMT_VECTOR(float, float, 4, 8, 16)
SIMT_VECTOR(double, double, 8, 16, 16)
#undef SIMT_VECTOR

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};
