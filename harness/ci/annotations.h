// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "harness/ci/ci_run.h"

namespace gauntlet {

inline constexpr std::size_t kMostAnnotations = 10;  // GitHub shows no more of one step

/// The worst of the run as GitHub's workflow commands, a line each: "::error file=...". Where there
/// are more than kMostAnnotations, the last line says how many.
std::string annotations(const CiRun& run);

/// Text for a log that GitHub's runner reads: no part of it is taken for a command of a workflow.
std::string without_commands(std::string_view text);

}  // namespace gauntlet
