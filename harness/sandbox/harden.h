// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gauntlet {

/// Closes this process to others of the same user: no ptrace, no reading of its memory, no core
/// dump. Called by the program at its start, before it knows a seed.
void harden_this_process();

}  // namespace gauntlet
