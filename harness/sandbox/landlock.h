// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/sandbox/fd.h"
#include "harness/sandbox/path_rule.h"

namespace gauntlet {

/// Version of the kernel's Landlock interface; 0 when there is none.
int landlock_version();

/// A set of rules that a child can put on itself: every file access that no rule allows is refused,
/// and from version 4 TCP, from version 6 signals to and abstract sockets of outsiders. Paths that
/// do not exist are left out. An empty Fd where the kernel has no Landlock.
Fd landlock_ruleset(const std::vector<PathRule>& rules);

/// Puts the rules on the calling thread. Async-signal-safe; needs no_new_privs. 0, or -1 and errno.
int landlock_restrict(int ruleset);

/// What a compiler needs: system programs, headers and libraries, and its own work folder.
std::vector<PathRule> compile_rules(const std::filesystem::path& work_folder);

/// Why a submission could read what lies in this folder, whether as a header or at run time, with
/// what to do about it; empty when it could not. Looks through symbolic links.
std::string why_readable(const std::filesystem::path& folder);

}  // namespace gauntlet
