// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/cli/context.h"

namespace gauntlet {

/// Which fields of a cell's key changed since it was graded, and which of build, observation, score
/// and report would be used again. Runs nothing.
VerbResult explain_cell(const Context& context, const std::string& submission,
                        const std::string& challenge);

}  // namespace gauntlet
