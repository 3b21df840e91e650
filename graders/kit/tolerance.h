// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/grading/probe.h"

namespace gauntlet::kit {

/// Records the largest share of its tolerance that any case of the check used, 0 to 1 for what
/// passes. The one name of this number in all reports.
void note_share(Probe& probe, double share);

}  // namespace gauntlet::kit
