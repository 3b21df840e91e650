// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/core/seed.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet {

/// Asks one check and catches every way in which it can end.
CheckObservation ask_check(const Check& check, const Seed& seed, Probe::Setting setting);

/// What stands for a check for which there is neither patience nor time any more.
CheckObservation not_asked(const Check& check, const std::string& why);

}  // namespace gauntlet
