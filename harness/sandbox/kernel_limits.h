// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>
#include <vector>

#include "harness/sandbox/limits.h"

namespace gauntlet {

struct KernelLimit {
  int resource;  // RLIMIT_DATA
  rlimit value;
};

/// The limits as setrlimit takes them, never above what this process may set. The kernel counts the
/// processes of a user together, and compares the sum with the limit of whoever wants one more:
/// where the sandbox has no user of its own, what the user runs and may run beside it is added.
/// That only stops bombs; what one worker has is counted by its WorkerProcess.
std::vector<KernelLimit> kernel_limits(const Limits& limits, bool own_user);

}  // namespace gauntlet
