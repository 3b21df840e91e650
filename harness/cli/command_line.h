// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/cli/app.h"
#include "harness/cli/context.h"
#include "harness/cli/verbs.h"

namespace gauntlet {

/// A command line, understood: how to set up, and what to do then.
struct CommandLine {
  Context context;
  std::function<VerbResult(const Context&)> run;
};

/// Throws UserError for a line that makes no sense, with the nearest known word.
CommandLine parse_command_line(const Program& program, const std::vector<std::string>& arguments);

}  // namespace gauntlet
