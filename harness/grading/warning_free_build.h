// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/store/observation.h"

namespace gauntlet {

/// The check `warning_free_build`, section engineering: what the compiler says of a solution's code
/// under -Wall -Wextra, and places that would silence it.
CheckInfo warning_free_build_info();
CheckObservation warning_free_build(const BuildRecord& build);

}  // namespace gauntlet
