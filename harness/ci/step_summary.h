// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "harness/ci/ci_run.h"

namespace gauntlet {

/// GitHub refuses a step's summary of more than 1 MiB as a whole.
inline constexpr std::size_t kSummaryBytes = std::size_t{900} << 10;

/// The run in Markdown, the most important first, in `limit` bytes at most: what does not fit is
/// left out from the bottom, by whole rows and whole details, and counted.
std::string step_summary(const CiRun& run, std::size_t limit = kSummaryBytes);

}  // namespace gauntlet
