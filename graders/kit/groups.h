// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include "harness/grading/grader.h"

namespace gauntlet::kit {

/// The checks of all groups, by section; within a section in the order of the groups.
std::vector<Check> joined(std::initializer_list<std::vector<Check>> groups);

/// A group whose checks are asked of solutions for every device. What is said of no device is asked
/// on the CPU only.
std::vector<Check> on_every_device(std::vector<Check> group);

/// A group whose checks are asked of CUDA solutions only.
std::vector<Check> on_cuda(std::vector<Check> group);

}  // namespace gauntlet::kit
