// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/sandbox/path_rule.h"

namespace gauntlet {

/// What a worker may read: single files and no folder of the system, so that there is little in
/// which one run could leave a trace for the next. The libraries that our compiler links to, the
/// program loader and its cache, and what OpenMP and libc ask about the machine.
const std::vector<PathRule>& worker_rules();

/// Brings every page of these files into memory. Which pages somebody has read since the machine
/// started would be a notepad that outlives every process: one run reads a page that is slow to
/// come, the next finds it quick. Costs 0.3 ms when they are there already.
void make_runtime_files_resident();

}  // namespace gauntlet
