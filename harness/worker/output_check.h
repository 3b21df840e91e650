// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/worker/call.h"
#include "harness/worker/layout.h"
#include "harness/worker/shared_memory.h"

namespace gauntlet {

/// What outputs and the space around inputs hold before a call: NaN in every float format, -1 in
/// every integer.
constexpr unsigned char kPoison = 0xFF;

/// Fills [begin, end) of the out arena, where no buffer is: NaN in every float format too, but no
/// -1 in integers of any size. Solutions write that on purpose, where nothing else is to be said,
/// and would not be seen to write it behind an end.
void surround(std::byte* arena, std::size_t begin, std::size_t end);

/// Throws SolutionFailure when the call wrote into the out arena outside its buffers: into what
/// lies between a buffer and its faulting page, or, after undoing the protection, anywhere else.
void check_surroundings(const CallBase& call, const Layout& layout, const SharedMemory& out);

}  // namespace gauntlet
