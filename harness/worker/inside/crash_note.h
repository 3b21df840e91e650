// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/worker/protocol.h"

namespace gauntlet::inside {

/// From now on, a crash first writes where and why into the control page, then happens as it would
/// have. A solution may undo this; then its crash is reported with fewer words.
void leave_crash_note(wire::Control& control);

/// Ends the worker for a fault of ours, with `text` for the message.
[[noreturn]] void give_up(wire::Control& control, const char* text);

}  // namespace gauntlet::inside
