// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/cli/app.h"
#include "harness/cli/context.h"
#include "harness/cli/options.h"

namespace gauntlet {

/// Where things are for a call with these options. Throws UserError for words that make no sense.
Context make_context(const Program& program, const CommandLineOptions& options);

}  // namespace gauntlet
