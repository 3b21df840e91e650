// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gauntlet {

/// From now on Ctrl-C and SIGTERM end the program at once with 130 and 143. With `json`, the
/// document that says so goes to stdout. Processes that grade die with their parent.
void end_on_interrupt(bool json);

}  // namespace gauntlet
