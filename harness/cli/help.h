// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/cli/app.h"
#include "harness/cli/options.h"

namespace gauntlet {

/// The verbs, in the order in which the help shows them.
std::vector<std::string> verb_names(const CLI::App& app);

/// What `gauntlet help` explains beside verbs.
inline const std::vector<std::string> kHelpTopics{"exit-codes", "files", "environment", "man-page"};

/// The help on everything, on a verb or on a topic. Throws UserError with the nearest known word.
std::string help_on(CLI::App& app, const std::vector<std::string>& topic, const Program& program);

}  // namespace gauntlet
