// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/ci/ci_run.h"

namespace gauntlet {

/// The run as JUnit XML: a suite for each submission, for each cell and for the gates. A check that
/// blames the submission is a <failure>; what is our own fault is an <error>, and what the machine
/// cannot ask is <skipped>. A grade alone is no failure.
std::string junit_xml(const CiRun& run);

}  // namespace gauntlet
