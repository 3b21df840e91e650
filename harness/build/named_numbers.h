// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "harness/build/solution.h"

namespace gauntlet {

/// The integers from 2 on that a solution's first file names, or a file of the solution that it
/// includes, ascending, each once: "4096", "0x1000", "4'096", "4e3", and what "1 << 12" or
/// "64 * 64" makes of them. A path that begins at a size of the solution's choice mostly names that
/// size. Of more than two hundred, as in a table, those that are named most often.
std::vector<std::int64_t> named_numbers(const SolutionSource& source);

}  // namespace gauntlet
