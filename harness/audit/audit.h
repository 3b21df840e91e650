// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/seed.h"
#include "harness/grading/audit_suite.h"
#include "harness/grading/cell.h"
#include "harness/store/audit_record.h"

namespace gauntlet {

/// How one contestant of the audit fared.
struct AuditRow {
  enum class Kind { mutant, honest, null_solution, reference };
  Kind kind;
  std::string name;
  std::string note;                        // fault or strategy
  std::vector<KillCount> named;            // mutants: the named killers, on all seeds
  std::vector<std::string> failed_checks;  // what failed with the first seed, in check order
  std::vector<std::string> problems;       // empty: as it should be
  Seed seed;                               // the first; more seeds follow it by one
};

struct AuditReport {
  std::string challenge;
  Device device = Device::cpu;
  std::vector<AuditRow> rows;
  std::vector<std::string> idle_checks;  // checks that killed no mutant; of a whole audit only
  bool ok() const;
};

struct AuditOptions {
  int jobs = 1;
  Device device = Device::cpu;      // whose solutions are tried
  std::optional<int> honest_seeds;  // absent: as many as the suite says, 3 when brief
  std::optional<int> mutant_seeds;  // absent: one, and three for a named check that missed
  bool brief = false;               // mutants meet only the checks that they name; few seeds
  /// The least to see that each check works: as few mutants as name every check that any mutant
  /// names; honest variants and reference share the checks out and are built as mutants are; null
  /// solutions are asked those that they are judged by.
  bool fewest = false;
  std::optional<int> sample;      // so many mutants, and honest variants: see sample_of
  bool as_graded = false;         // honest variants get long runs as long as a submission's
  std::optional<Seed> seed;       // of the first run
  std::vector<std::string> only;  // names of mutants and honest variants; empty: all contestants
};

/// Checks draw their inputs, so that a check may miss a mutant now and then. It kills a mutant when
/// it fails it with at least two of three seeds.
bool kills(const KillCount& count);

/// So many places of a list of `all`, ascending, drawn by the digest of the grader: the same as
/// long as that stays as it is, and in time all of them.
std::vector<std::size_t> sample_of(std::size_t all, int count, std::string_view grader_digest);

/// Runs every mutant, honest variant, null solution and the reference of one device through the
/// same path as a submission, but that mutants for the CPU are built as subjects. Every check
/// that a mutant names must kill it.
AuditReport audit_challenge(const GradingEnvironment& environment, const Challenge& challenge,
                            const AuditOptions& options, const Progress& progress);

/// The same for a suite that holds the reference as well, by what grades requests. Throws UserError
/// for a name in `only` that nobody has. The grader's checks are those of the device.
using GradeRequests = std::function<std::vector<CellObservation>(const std::vector<CellRequest>&)>;
AuditReport audit_suite(const Challenge& challenge, const Grader& grader, AuditSuite suite,
                        const AuditOptions& options, const GradeRequests& grade);

}  // namespace gauntlet
