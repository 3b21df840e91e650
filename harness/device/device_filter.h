// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/sandbox/seccomp_filter.h"

namespace gauntlet {

/// For the device process, once it has its descriptors: memory of its own, threads, the time, and
/// reading and writing what is open. Whatever else is called ends it.
const SeccompFilter& device_filter();

}  // namespace gauntlet
