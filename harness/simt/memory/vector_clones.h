// SPDX-License-Identifier: Apache-2.0
#pragma once

// A loop over 32 lanes that is worth a version for each vector unit. Where the compiler cannot make
// them, and under sanitizers, which are not ready when the choice is made, there is one version.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__OPTIMIZE__) && \
    !defined(__SANITIZE_ADDRESS__)
#define SIMT_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define SIMT_VECTOR_CLONES
#endif
