// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/core/error.h"

namespace gauntlet {

/// The code that wins when several apply: 70 > 2 > 3 > 5 > 1, and 0 last.
int worse_exit_code(int a, int b);

/// The table that `gauntlet help exit-codes` prints.
std::string exit_codes_text();

}  // namespace gauntlet
