// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/sandbox/walls.h"

namespace gauntlet {

/// One wall of the sandbox, and whether it was seen to hold on this machine.
struct SandboxLayer {
  const Wall* wall = nullptr;
  bool holds = false;
  std::string detail;  // what was tried and what came of it
};

struct SandboxReport {
  std::vector<SandboxLayer> layers;
  std::string tier;      // the walls that hold: "landlock+seccomp+rlimits+uid"
  bool usable = false;   // without this, submissions must not run here
  std::string problem;   // why not, and what would help; empty when usable
  std::string weakness;  // usable, but with a wall less than every other machine; empty: none
};

/// What follows from what held.
SandboxReport report_of(std::vector<SandboxLayer> layers);

/// Tries every wall that needs something of the machine. Done once a process, a few milliseconds;
/// later calls return the same.
const SandboxReport& probe_sandbox();

/// To be called before a submission is run. Throws UserError when the sandbox is not usable, or
/// weaker than it should be and nobody has said that this will do.
void require_sandbox(const SandboxReport& report, bool allow_weaker);

}  // namespace gauntlet
