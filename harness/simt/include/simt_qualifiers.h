// SPDX-License-Identifier: Apache-2.0
// CUDA's qualifiers as clang's attributes, and how the functions of these headers are declared: in
// line, and without line information, so that what they do is told at the line that calls them.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))

#define SIMT_DEVICE static __device__ __inline__ __attribute__((always_inline, nodebug, unused))
#define SIMT_BOTH \
  static __host__ __device__ __inline__ __attribute__((always_inline, nodebug, unused))
#define SIMT_MEMBER __device__ __attribute__((always_inline, nodebug))
#define SIMT_MEMBER_BOTH __host__ __device__ __attribute__((always_inline, nodebug))
