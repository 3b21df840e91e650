// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "harness/sandbox/filter_blanks.h"

namespace gauntlet::inside {

/// Loads the libraries that a solution may use, and has every page of them in memory: when the
/// solution comes, they are above kept_memory(), and what they take does not change any more.
void bring_in_libraries();

/// Blanks the values of environment variables that only the libraries above were to read, at their
/// start: a solution shall not tell by them what it is asked for.
void blank_environment();

/// Address space at the top of what the kernel gives out, with nothing in it yet.
struct KeptMemory {
  KeptRange range;
  std::byte* base;  // `bytes` for shared memory, which may be opened; a multiple of a huge page
};

/// Reserves it, below everything that is mapped by now, and leaves no gap above: what is mapped
/// later lies below, so that an address tells what may be given back.
KeptMemory keep_memory(std::size_t bytes);

}  // namespace gauntlet::inside
