// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/report/model/grade_changes.h"

namespace gauntlet {

/// The cells of one challenge as lines of JSON: what they have in common, then one for each check.
/// Durations become 0, numbers keep about as many digits as are shown, curves the points that a
/// reader can see (packing.h); checks and facts that cells have in different orders take one order.
std::string lines_of(const std::vector<PublishedCell>& cells);

/// The cells, without grades; lines of earlier versions are read as well. Throws UserError naming
/// `shown_name` for anything that lines_of does not write.
std::vector<PublishedCell> cells_from_lines(const std::string& text, const std::string& shown_name);

}  // namespace gauntlet
