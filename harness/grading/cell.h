// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/build/challenge.h"
#include "harness/build/solution.h"
#include "harness/core/seed.h"
#include "harness/grading/grader.h"
#include "harness/grading/null_session.h"
#include "harness/store/observation.h"
#include "harness/store/receipt.h"

namespace gauntlet {

/// Where things are on this machine.
struct GradingEnvironment {
  std::filesystem::path root;    // the checkout: challenges/, reference/, graders/
  std::filesystem::path worker;  // the gauntlet-worker program
  std::filesystem::path cache;   // compiled solutions
  std::string version;           // of this program, for the provenance
  BuildTerms build = {};
  Walls walls = {};                        // around workers
  std::chrono::seconds race_patience{20};  // what all races of a cell have as RaceBudget::reserve
  /// Of a cell on a device, each with a device of its own: what the solution is asked, what it
  /// answers and what is told of it do not depend on that.
  int checks_at_once = 1;
  std::string node = {};  // of a cluster, whose nodes may share `cache`

  /// Where those who grade on this machine keep out of each other's races.
  std::filesystem::path gate() const { return node.empty() ? cache : cache / "nodes" / node; }
};

/// One cell of the matrix to be graded.
struct CellRequest {
  std::string submission;  // for the observation and for messages
  Challenge challenge;
  SolutionSource solution;
  int attempt = 1;
  std::optional<Seed> seed;               // absent: drawn after the build
  std::vector<std::string> only_checks;   // empty: all
  bool audit = false;                     // races are unmeasured, long runs get small budgets
  bool races = true;                      // false: races are unmeasured
  bool grade_tests = true;                // false: what tests.cpp is worth is not asked
  bool subject = false;                   // one of ours: built lightly, see build_subject
  int enough_failures = 0;                // stop when as many checks have failed; 0: ask all
  std::optional<NullKind> null_solution;  // asked instead of `solution`, which is then not built
  std::string constraint = {};  // of the cluster's nodes it is graded on, for the provenance
  /// The folder of results that keeps the receipt which the run is committed to, before the first
  /// check; empty: nobody keeps it.
  std::filesystem::path results = {};

  CellKey key() const {
    return {submission, challenge.id, challenge.size, solution.device, attempt};
  }
};

/// Where the time of grading a cell went, in seconds on the wall. No part of any grade.
struct CellTimings {
  double build = 0;      // the submission's library
  double self_test = 0;  // tests_tell_right_from_wrong
  double checks = 0;     // all others, without what follows
  double races = 0;      // calls that had the machine to themselves
  double waiting = 0;    // for races and checks of other cells
};

/// A cell that was graded. Without a receipt when the grading process died.
struct GradedCell {
  CellObservation observation;
  std::optional<Receipt> receipt;
  CellTimings timings = {};
};

/// What happens while cells are graded, for progress displays.
struct CellEvent {
  enum class Kind {
    ahead,  // compiling what cells of this challenge need alike
    building,
    committed,
    check_started,
    check_done,
    closed,
    waiting,
    racing,  // from now on the cell wants the machine for itself, and may wait for it
    cell_done
  };
  Kind kind;
  CellKey key;
  std::string check;  // check_started, check_done; ahead: what; committed, closed: the digest;
                      // waiting: for what
  Verdict verdict{};  // check_done; cell_done: the worst of the cell
  int done = 0;       // checks finished so far
  int total = 0;
};
using Progress = std::function<void(const CellEvent&)>;

/// The grader for a challenge id. Throws UserError when this program was built without it.
const GraderEntry& grader_for(const std::string& challenge_id);

/// The same with the checks that are asked on this device.
Grader grader_on(const std::string& challenge_id, Device device);

/// Every check that a cell of this challenge can show on this device: those of engineering, which
/// all challenges have, and the grader's own.
std::vector<CheckInfo> checks_of(const std::string& challenge_id, Device device);

}  // namespace gauntlet
