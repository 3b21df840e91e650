// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/worker/call.h"
#include "harness/worker/layout.h"
#include "harness/worker/shared_memory.h"

namespace gauntlet {

/// What outputs and the space around buffers hold before a call: NaN in every float format.
constexpr unsigned char kPoison = 0xFF;

/// Throws SolutionFailure when the call wrote into the out arena outside its buffers: into the
/// poison between a buffer and its faulting page, or, after undoing the protection, anywhere else.
void check_surroundings(const CallBase& call, const Layout& layout, const SharedMemory& out);

}  // namespace gauntlet
