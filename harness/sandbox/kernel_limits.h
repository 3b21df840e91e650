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
/// processes of a user together: where the sandbox has no user of its own, what the user already
/// runs is added.
std::vector<KernelLimit> kernel_limits(const Limits& limits, bool own_user);

}  // namespace gauntlet
