// SPDX-License-Identifier: Apache-2.0
// What every .cu file sees without an include, as with other CUDA compilers.
#pragma once

#include <__clang_cuda_builtin_vars.h>
#include <cuda_runtime_api.h>
#include <simt_atomics.h>
#include <simt_integers.h>
#include <simt_math.h>
#include <simt_memory.h>
#include <simt_qualifiers.h>
#include <simt_rounding.h>
#include <simt_warp.h>
#include <stdlib.h>
#include <vector_types.h>

// printf(...) in device code is lowered by clang to this call, and assert() of <assert.h> to the
// other one's caller.
extern "C" {
__device__ int vprintf(const char* format, const char* arguments);
__device__ void __assertfail(const char* message, const char* file, unsigned int line,
                             const char* function, unsigned long character_size)
    __attribute__((noreturn));
}
extern "C" __device__ __attribute__((always_inline, nodebug, noreturn)) inline void __assert_fail(
    const char* message, const char* file, unsigned int line, const char* function) {
  __assertfail(message, file, line, function, 1);
}
extern "C" __device__ int printf(const char* format, ...);
