// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gauntlet {

/// The grade that a score.json says, by whatever rubric made it: "C+ 79", "B..A, 84 to 100", or the
/// status of a cell that has none. Throws UserError naming `shown_name` for what is no score.
std::string recorded_grade(const std::string& score, const std::string& shown_name);

}  // namespace gauntlet
