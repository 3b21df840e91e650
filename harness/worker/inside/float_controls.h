// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gauntlet::inside {

/// How this thread computes with floats: rounding, what becomes of subnormal numbers, which
/// exceptions trap. Not the flags that say what has happened. The calling convention and every
/// contract want a function to return with those that it was called with.
std::uint64_t float_controls();

}  // namespace gauntlet::inside
