#pragma once

#include <string>
#include <vector>

namespace gauntlet {

/// One wall of the sandbox, and whether it was seen to hold on this machine.
struct SandboxLayer {
  std::string name;
  bool holds = false;
  std::string detail;  // what was tried and what came of it
};

struct SandboxReport {
  std::vector<SandboxLayer> layers;
  std::string tier;     // the walls that hold: "landlock+seccomp+rlimits+uid"
  bool usable = false;  // without this, submissions must not run here
  std::string problem;  // why not, and what would help; empty when usable
};

/// Tries every layer in a child process ("probe by doing": kernels announce features that a
/// container then refuses). Done once a process, a few milliseconds; later calls return the same.
const SandboxReport& probe_sandbox();

}  // namespace gauntlet
