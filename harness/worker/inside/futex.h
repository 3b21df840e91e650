// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/worker/protocol.h"

namespace gauntlet::inside {

/// Sleeps until the word differs from `value`.
void wait_for_change(wire::Word& word, std::uint32_t value);

/// Tells the harness that something in the control page has changed.
void ring(wire::Control& control);

}  // namespace gauntlet::inside
