// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/cli/options.h"

namespace gauntlet {

/// gauntlet.1 in mdoc, of what the help says: nothing stands in it that the program does not know.
/// `released` as mdoc wants a date, "November 24, 2026".
std::string man_page(const CLI::App& app, const std::string& released);

}  // namespace gauntlet
