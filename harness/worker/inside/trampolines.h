// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/worker/inside/arenas.h"

namespace gauntlet::inside {

/// Points the argument struct's callback fields to functions that carry the request to the harness
/// and wait for its reply, one request at a time. The thread that calls this is the one that may.
void set_callbacks(const wire::Order& order, Arenas& arenas, std::byte* arguments);

}  // namespace gauntlet::inside
