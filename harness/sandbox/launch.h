// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "harness/core/error.h"
#include "harness/sandbox/fd.h"
#include "harness/sandbox/file_view.h"
#include "harness/sandbox/limits.h"
#include "harness/sandbox/seccomp_filter.h"
#include "harness/sandbox/walls.h"

namespace gauntlet {

class ControlGroup;

/// A program to start, and every wall that is put up before it runs. Descriptors are borrowed.
struct LaunchPlan {
  std::vector<std::string> argv;         // argv[0] is the program's path, unless `program` is set
  int program = -1;                      // started through this descriptor: needs no path to it
  std::vector<std::string> environment;  // all of it: "NAME=value"
  std::vector<int> descriptors;          // become 0, 1, 2, ...; the program has no others
  int folder = -1;                       // working directory; "/" when absent
  const FileView* files = nullptr;       // all that it sees, where the machine allows that
  int landlock = -1;                     // ruleset; -1: none
  const ControlGroup* group = nullptr;   // to join
  std::span<const sock_filter> seccomp;  // empty: the program puts on its own
  Limits limits;                         // without wall clock and output, which the caller watches
  std::optional<uid_t> user;             // to become; also the group
  Walls walls;                           // those that are down make us ignore what is said above
};

struct LaunchFailed : Broken {
  using Broken::Broken;
};

/// A started program, to be reaped by the caller, and where it has namespaces the process that
/// keeps them.
struct Launched {
  pid_t pid = -1;
  pid_t namespace_init = -1;
  Fd life;  // the namespace_init lives as long as this is open
};

/// Starts the program in a process group of its own, with no capabilities, no way to gain any, and
/// a SIGKILL when the calling thread ends. Throws LaunchFailed, naming the step, when it could not
/// be started.
Launched launch(const LaunchPlan& plan);

/// Held while this process forks. Who makes something that no child may have, and needs two steps
/// for it, holds it meanwhile.
std::mutex& fork_mutex();

/// Ends the namespaces, and with them every process in them. After the program was reaped.
void end_namespace_init(Launched& launched);

}  // namespace gauntlet
