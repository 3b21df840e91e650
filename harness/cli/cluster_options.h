// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>

#include "harness/cli/verbs.h"

namespace gauntlet {

/// Options of `grade` for more than one machine: its shards, and where cells are graded.
void add_machine_options(CLI::App& grade, GradeOptions& options);

void add_merge_verb(CLI::App& app, MergeOptions& options);

}  // namespace gauntlet
