#pragma once

#include <stdexcept>
#include <string>

#include "harness/core/own_fault.h"

namespace gauntlet {

/// The user asked for something that cannot be: unknown name, missing folder, bad YAML. The text
/// says where, what, what was wanted and how to fix it. Ends the program with `exit_code`.
struct UserError : std::runtime_error {
  explicit UserError(const std::string& text, int code = 2)
      : std::runtime_error(text), exit_code(code) {}
  int exit_code;  // 2 usage or configuration, 3 invalid submission, 4 nothing matched
};

/// Our own fault or the machine's: becomes Verdict::broken, never a submission's fault.
struct Broken : std::runtime_error {
  Broken(OwnFault which, const std::string& text) : std::runtime_error(text), fault(which) {}
  OwnFault fault;
};

}  // namespace gauntlet
