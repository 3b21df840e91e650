// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/sandbox/walls.h"

namespace gauntlet {

// "Probe by doing": kernels announce features that a container then refuses. Each of these tries
// its wall in a child process, or says why there is nothing to try.

ProbeResult probe_landlock();
ProbeResult probe_seccomp();
ProbeResult probe_rlimits();
ProbeResult probe_uid();
ProbeResult probe_namespaces();
ProbeResult probe_mounts();
ProbeResult probe_sealed_memory();
ProbeResult probe_freeze();
ProbeResult probe_cgroups();

}  // namespace gauntlet
