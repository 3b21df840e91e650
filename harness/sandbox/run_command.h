// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <variant>
#include <vector>

#include "harness/core/own_fault.h"
#include "harness/sandbox/limits.h"
#include "harness/sandbox/walls.h"

namespace gauntlet {

/// A program of this machine that works on a submission's files: a compiler. It sees system folders
/// and `folder`, writes nowhere else, has no network, and leaves no process behind.
struct Command {
  std::vector<std::string> argv;  // argv[0]: absolute path
  /// A scratch folder of ours: working directory, home and place for temporary files. When we are
  /// root it is given to the command's user, who can then do with it as he likes.
  std::filesystem::path folder;
  Walls walls = {};
  /// Further folders that it may read and run programs from: those of a compiler that lies in none
  /// of the system's.
  std::vector<std::filesystem::path> programs = {};
};

struct Exited {
  int code;
};
struct Signaled {
  int signal;
};
struct OverRan {
  std::string limit;  // "60 s of wall-clock time"
};
struct OverMemory {};
struct OverOutput {};
struct Unstarted {  // our own fault, or the machine's
  OwnFault fault;
  std::string why;
};
using Outcome = std::variant<Exited, Signaled, OverRan, OverMemory, OverOutput, Unstarted>;

struct CommandResult {
  Outcome outcome;
  std::string output;  // stdout and stderr in the order they were written, cut to what was kept
  double seconds = 0;
};

/// Runs the command to its end or to its first limit. Everything it started is dead afterwards.
CommandResult run_command(const Command& command, const Limits& limits);

/// "exit code 1", "SIGSEGV", "more than 60 s of wall-clock time": for messages.
std::string describe(const Outcome& outcome);

/// "SIGSEGV"; "signal 64" for a number without a name.
std::string signal_name(int number);

}  // namespace gauntlet
