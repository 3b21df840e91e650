// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/audit/wild_rules.h"
#include "harness/grading/audit_suite.h"
#include "harness/grading/cell.h"

namespace gauntlet {

/// A mutant that a rule made.
struct WildMutant {
  std::string file;  // "honest/two_pass.cpp", "reference/solution.cpp"
  std::string rule;
  WildSite site;
  SolutionSource solution;
  std::string variant;  // whose solution it is a change of
};

/// A change that no caller can notice, in graders/<id>/equivalents.yaml.
struct Equivalent {
  std::string file;
  std::string rule;
  std::string line;   // WildSite::before
  std::string after;  // WildSite::after
  int place = 1;      // WildSite::place
  std::string reason;
};

/// A right solution that mutants are made of, and where it lies.
struct WildBase {
  std::string name;    // of the variant
  std::string folder;  // "honest", "reference"
  std::string main;    // its solution.cpp's name there; empty: the same
  SolutionSource solution;
};
std::vector<WildBase> wild_bases(const AuditSuite& suite, const SolutionSource& reference);

/// All mutants that the rules can make, in an order that goes round the files, and in each file
/// round the rules; the seed draws which come first. A header that several variants share is a file
/// of one of them, which includes it.
std::vector<WildMutant> wild_mutants(const std::vector<WildBase>& bases, const Seed& seed);

/// Empty without the file. Throws UserError for an entry without its reason.
std::vector<Equivalent> load_equivalents(const std::filesystem::path& file);

bool says(const Equivalent& equivalent, const WildMutant& mutant);

struct WildReport {
  /// A mutant that no check or one alone noticed.
  struct Row {
    WildMutant mutant;
    std::string killer;      // empty: nobody
    std::string equivalent;  // the reason why nobody could; such a row is no survivor
  };
  std::vector<Row> rows;
  int drawn = 0;
  int not_built = 0;  // the compiler refused it
  int same_code = 0;  // as what it was made of, or as an earlier mutant
  int graded = 0;     // all others
  int killed_by_two = 0;
  std::vector<std::string>
      problems;  // equivalents of no mutant, noticed equivalents, broken checks
  int count_killed_by_one() const;
  int count_equivalent() const;
  int count_survivors() const;
  bool ok() const { return problems.empty() && count_survivors() == 0; }
};

/// How the mutants become verdicts: the assembly text of a solution, empty where it does not build;
/// and the grading of requests.
struct WildTools {
  std::function<std::vector<std::string>(const std::vector<const SolutionSource*>&)> assemble;
  std::function<std::vector<CellObservation>(const std::vector<CellRequest>&)> grade;
};

/// Grades `wanted` mutants whose code is another one than that of what they were made of, or as
/// many as there are. Each is stopped when a second check has noticed it.
WildReport audit_wild(const Challenge& challenge, const std::vector<WildMutant>& mutants,
                      const std::vector<WildBase>& bases,
                      const std::vector<Equivalent>& equivalents, int wanted, const Seed& seed,
                      const WildTools& tools);

}  // namespace gauntlet
