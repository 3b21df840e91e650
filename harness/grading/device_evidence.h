// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/core/finding.h"
#include "harness/device/device_report.h"
#include "harness/worker/session.h"

namespace gauntlet {

/// What a device saw at one line of a kernel, with the place in front, as compilers print it:
/// "solution.cu:12: race in k: ..., block (0,0,0), thread (3,0,0), 12 times".
std::string evidence_line(const DeviceReport::Diagnostic& seen);

/// Adds to a finding that blames the submission what its device saw in the call before it, unless
/// it says so already. Does nothing for a session without a device.
void add_device_evidence(Finding& finding, Session& session);

}  // namespace gauntlet
