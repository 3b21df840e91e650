// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/build/challenge.h"
#include "harness/build/solution.h"
#include "harness/core/verdict.h"
#include "harness/sandbox/walls.h"

namespace gauntlet {

/// How success shows from outside: "processes 100", "object io_uring", "leak". See effects.cpp.
struct Effect {
  std::string kind;
  std::string word;   // what follows the kind, perhaps a number
  double amount = 0;  // that number
};

/// A submission that tries to get more than it earned.
struct Attack {
  std::string name;
  std::string category;  // "process bomb"
  std::string goal;
  Effect effect;
  std::vector<std::string> stopped_by;  // names of walls: "seccomp"
  std::vector<std::string> fools;       // naive judges that accept it; see tests/attacks
  std::string no_control;               // why nothing can be switched off to see it succeed
  std::vector<Verdict> verdicts;        // that it may get
  double call_seconds = 10;
  double check_seconds = 120;
  std::optional<int> build_seconds;  // of processor time for its compilation; else the usual
  bool builds = false;  // it attacks the compilation, which then is never taken from the cache
  Device device = Device::cpu;
  std::string text;  // of solution.cpp, or of solution.cu

  /// Where those that no wall stops are left to another tier.
  bool is_tried(bool with_unwalled) const { return with_unwalled || !stopped_by.empty(); }
};

/// A correct solution that does unusual things, which must pass untouched.
struct OddProgram {
  std::string name;
  std::string oddity;
  Device device = Device::cpu;
  std::string text;
};

/// tests/attacks: programs.yaml says for which challenge and what stands around the statements of a
/// program, the other YAML files hold the programs, the headers what they share. Throws UserError
/// naming file and line.
struct AttackCorpus {
  std::string challenge;
  std::string check;
  std::vector<SolutionSource::File> headers;
  std::vector<Attack> attacks;
  std::vector<OddProgram> honest;
};
AttackCorpus load_attacks(const std::filesystem::path& root);

}  // namespace gauntlet
