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
  std::string part;     // what the file is called in the solution: "solution.cpp"

  /// "honest/two_pass.cpp:83:less_to_less_equal", with ":2" where it is the second of its kind.
  std::string name() const;
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

/// How a mutant fared.
struct WildRow {
  enum class Fate { killed_by_two, killed_by_one, survives, equivalent };

  WildMutant mutant;
  std::vector<std::string> killers;  // checks that noticed it; no more than two unless it was named
  bool hung = false;                 // some of them, without which two would not have noticed it,
                                     // only because it did not end
  std::string equivalent;            // the reason why nobody could notice it; empty: none is known
  Fate fate() const;
};

struct WildReport {
  std::vector<WildRow> rows;  // of all that were graded, in the order in which they were judged
  int drawn = 0;
  int not_built = 0;    // the compiler or the linker refused it
  int same_code = 0;    // as what it was made of, or as an earlier mutant
  int to_grade = 0;     // all others
  int asked_again = 0;  // because they had run out of time
  int waiting = 0;      // to be asked again; none in the end
  std::vector<std::string>
      problems;  // equivalents of no mutant, noticed equivalents, broken checks
  int count(WildRow::Fate fate) const;
  int count_hung() const;
  bool ok() const { return problems.empty() && count(WildRow::Fate::survives) == 0; }
};

/// How the mutants become verdicts: the assembly text of a solution, empty where it does not build;
/// and the grading of requests, each of which `ended` sees when it is there. A machine that is busy
/// lets right solutions run out of time, so nothing of ours runs beside what is graded alone.
struct WildTools {
  using Ended = std::function<void(const CellObservation&)>;
  using Grade = std::function<void(const std::vector<CellRequest>&, const Ended&)>;
  std::function<std::vector<std::string>(const std::vector<const SolutionSource*>&)> assemble;
  Grade grade;
  Grade grade_alone;
  /// What is known so far, with the row that was added; null where a mutant is to be asked again.
  /// May be empty.
  std::function<void(const WildReport&, const WildRow*)> news;
};

struct WildOptions {
  int wanted = 1;
  Seed seed;
  std::vector<std::string> only;  // names; instead of as many as are wanted
};

/// Grades as many mutants as are wanted whose code is another one than that of what they were made
/// of, or as many as there are. Each is stopped when a second check has noticed it, but not those
/// that were named. One that ran out of time is asked again alone at the end, with all the time
/// that a grade gives, and only what it misses then counts. Throws UserError for a name in `only`
/// that no mutant has.
WildReport audit_wild(const Challenge& challenge, const std::vector<WildMutant>& mutants,
                      const std::vector<WildBase>& bases,
                      const std::vector<Equivalent>& equivalents, const WildOptions& options,
                      const WildTools& tools);

}  // namespace gauntlet
