// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/report/model/aggregate.h"
#include "harness/report/terminal/terminal.h"

namespace gauntlet {

/// Two or more submissions side by side: records, then a table of challenges; with two of them
/// differences, winners and margins.
std::string terminal_comparison(const Aggregate& all, const TerminalStyle& style);

/// What a challenge's checks say about a pair: sections, speeds, and the checks that favour one.
std::string terminal_criteria(const Aggregate& all, const ReportedPair& pair,
                              const std::string& challenge, const TerminalStyle& style);

}  // namespace gauntlet
