// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/core/error.h"

namespace gauntlet {

/// The code that wins when several apply: 70 > 2 > 3 > 5 > 1, and 0 last.
int worse_exit_code(int a, int b);

struct ExitCodeMeaning {
  int code;
  std::string_view meaning;
};

/// What each exit code says, in their order.
std::span<const ExitCodeMeaning> exit_code_meanings();

/// The table that `gauntlet help exit-codes` prints.
std::string exit_codes_text();

}  // namespace gauntlet
