// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include "harness/grading/grader.h"

namespace gauntlet::kit {

/// The checks of all groups, by section; within a section in the order of the groups.
std::vector<Check> joined(std::initializer_list<std::vector<Check>> groups);

}  // namespace gauntlet::kit
