#pragma once

#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "harness/core/error.h"
#include "harness/sandbox/limits.h"
#include "harness/sandbox/seccomp_filter.h"

namespace gauntlet {

/// A program to start, and every wall that is put up before it runs. Descriptors are borrowed.
struct LaunchPlan {
  std::vector<std::string> argv;         // argv[0] is the program's path, unless `program` is set
  int program = -1;                      // started through this descriptor: needs no path to it
  std::vector<std::string> environment;  // all of it: "NAME=value"
  std::vector<int> descriptors;          // become 0, 1, 2, ...; the program has no others
  int folder = -1;                       // working directory; "/" when absent
  int landlock = -1;                     // ruleset; -1: none
  std::span<const sock_filter> seccomp;  // empty: the program puts on its own
  Limits limits;                         // without wall clock and output, which the caller watches
  std::optional<uid_t> user;             // to become; also the group
};

struct LaunchFailed : Broken {
  using Broken::Broken;
};

/// Starts the program in a process group of its own, with no capabilities, no way to gain any, and
/// a SIGKILL when the calling thread ends. Returns its process id, to be reaped by the caller.
/// Throws LaunchFailed, naming the step, when it could not be started.
pid_t launch(const LaunchPlan& plan);

}  // namespace gauntlet
