// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gauntlet {

/// What g++ and clang++ link C++ with OpenMP to, and what libc loads by itself (libgcc_s, when a
/// thread is cancelled). libm's vector functions are in libmvec.
constexpr const char* kRuntimeLibraries[] = {
    "libc.so.6",        "libm.so.6",       "libmvec.so.1", "libstdc++.so.6",
    "libgcc_s.so.1",    "libgomp.so.1",    "libomp.so.5",  "libatomic.so.1",
    "libquadmath.so.0", "libpthread.so.0", "librt.so.1",   "libdl.so.2",
};

}  // namespace gauntlet
