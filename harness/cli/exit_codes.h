#pragma once

#include <string>

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

/// The code that wins when several apply: 70 > 2 > 3 > 5 > 1, and 0 last.
int worse_exit_code(int a, int b);

/// The table that `gauntlet help exit-codes` prints.
std::string exit_codes_text();

}  // namespace gauntlet
