// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/build/solution.h"
#include "harness/grading/grader.h"

namespace gauntlet {

/// A known-wrong solution: a small change of an honest one, and the checks that must notice it.
struct Mutant {
  std::string name;
  std::string fault;                 // what is wrong with it, a phrase
  std::vector<std::string> killers;  // at least two check ids, all of which must fail on it
  SolutionSource solution;
  std::string made_of;      // "two_pass", "walk.h": the honest file that was changed; may be empty
  SolutionSource original;  // the same before the change
};

/// A correct solution by another strategy, which no check may fail.
struct HonestVariant {
  std::string name;
  std::string strategy;
  SolutionSource solution;
  bool is_reference = false;  // the one that speed is compared with; no file of the suite
};

/// Which freedom of the contract a right solution says that it takes, behind "// uses: " in the
/// comment that its first file begins with; empty where it says nothing.
std::string freedom_taken(const SolutionSource& solution);

/// graders/<id>/mutants.yaml, mutants/*.cpp and honest/*.cpp, read and patched, for CUDA
/// graders/<id>/cuda/mutants.yaml and so on with *.cu; headers that lie beside a file come with it,
/// so that variants can share one. Throws UserError naming the entry when a patch does not apply
/// exactly once or a killer is no check of this device.
struct AuditSuite {
  std::vector<Mutant> mutants;
  std::vector<HonestVariant> honest;
  int honest_seeds = 3;  // `honest_seeds` in mutants.yaml: with how many each variant is tried
};
AuditSuite load_audit_suite(const std::filesystem::path& root, const std::string& challenge_id,
                            Device device, const Grader& grader);

}  // namespace gauntlet
