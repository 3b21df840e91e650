// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "harness/core/own_fault.h"

namespace gauntlet {

/// What the program's exit code answers: did the tool do its work? A bad grade is a result and ends
/// with 0, unless a gate was asked for. Stable: scripts rely on these.
enum ExitCode : int {
  kExitDone = 0,
  kExitGateFailed = 1,
  kExitUsage = 2,
  kExitInvalidSubmission = 3,
  kExitNothingMatched = 4,
  kExitIncomplete = 5,
  kExitInternal = 70,
  kExitInterrupted = 130,
  kExitTerminated = 143,
};

/// The user asked for something that cannot be: unknown name, missing folder, bad YAML. The text
/// says where, what, what was wanted and how to fix it. Ends the program with `exit_code`.
struct UserError : std::runtime_error {
  explicit UserError(const std::string& text, int code = kExitUsage)
      : std::runtime_error(text), exit_code(code) {}
  int exit_code;
};

/// Our own fault or the machine's: becomes Verdict::broken, never a submission's fault.
struct Broken : std::runtime_error {
  Broken(OwnFault which, const std::string& text) : std::runtime_error(text), fault(which) {}
  OwnFault fault;
};

}  // namespace gauntlet
