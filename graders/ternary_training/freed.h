// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/grading/probe.h"

/// The same asked again and again: nothing of it stays allocated. Each call has weights enough
/// to be seen where they are floats, and mostly where they are bytes.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// Of every function, where it succeeds and where it finds that a mean is infinite.
void require_calls_freed(Probe& probe);

/// Of files with an error that only the last of their codes, scales or gains shows.
void require_damaged_files_freed(Probe& probe);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
