// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "harness/worker/call.h"
#include "harness/worker/protocol.h"

namespace gauntlet {

/// Answers the callback that a frozen worker has asked for: reads the request from the mailbox, has
/// the call's own function answer it, and puts the reply back. Sizes come from the solution and are
/// checked; throws SolutionFailure for a request that cannot be one. What the answering function
/// throws passes through. Returns how much of the mailbox request and reply take.
std::size_t answer_callback(CallBase& call, wire::Control& control, std::byte* mailbox,
                            std::size_t mailbox_bytes);

}  // namespace gauntlet
