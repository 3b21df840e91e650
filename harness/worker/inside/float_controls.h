// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gauntlet::inside {

/// How this thread computes with floats: rounding, what becomes of subnormal numbers, which
/// exceptions trap. Not the flags that say what has happened. The calling convention and every
/// contract want a function to return with those that it was called with.
std::uint64_t float_controls();

/// Others than those: rounding upwards and, on x86-64, subnormal results flushed to zero. Subnormal
/// arguments stay what they are, so that comparisons of them mean the same, unless they are to be
/// zeros as well.
std::uint64_t unusual_float_controls(std::uint64_t usual, bool zero_subnormals);

/// Forgets which exceptions have happened.
void set_float_controls(std::uint64_t controls);

}  // namespace gauntlet::inside
