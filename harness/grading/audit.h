#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/grading/cell.h"

namespace gauntlet {

/// A known-wrong solution: a small change of an honest one, and the checks that must notice it.
struct Mutant {
  std::string name;
  std::string fault;                 // what is wrong with it, a phrase
  std::vector<std::string> killers;  // at least two check ids, all of which must fail on it
  SolutionSource solution;
};

/// A correct solution by another strategy, which no check may fail.
struct HonestVariant {
  std::string name;
  std::string strategy;
  SolutionSource solution;
};

/// graders/<id>/mutants.yaml, mutants/*.cpp and honest/*.cpp, read and patched; headers that lie
/// beside a file come with it, so that variants can share one. Throws UserError naming the entry
/// when a patch does not apply exactly once or a killer is no check.
struct AuditSuite {
  std::vector<Mutant> mutants;
  std::vector<HonestVariant> honest;
  int honest_seeds = 3;  // `honest_seeds` in mutants.yaml: with how many each variant is tried
};
AuditSuite load_audit_suite(const std::filesystem::path& root, const std::string& challenge_id,
                            const Grader& grader);

/// How one contestant of the audit fared.
struct AuditRow {
  enum class Kind { mutant, honest, null_solution, reference };
  Kind kind;
  std::string name;
  std::string note;                        // fault or strategy
  std::vector<std::string> expected;       // mutants: the named killers
  std::vector<std::string> failed_checks;  // what really failed, in check order
  std::vector<std::string> problems;       // empty: as it should be
  std::uint64_t seed = 0;
};

struct AuditReport {
  std::string challenge;
  std::vector<AuditRow> rows;
  std::vector<std::string> idle_checks;  // checks that killed no mutant; of a whole audit only
  bool ok() const;
};

struct AuditOptions {
  int jobs = 1;
  std::optional<int> honest_seeds;    // absent: as many as the suite says
  bool brief = false;                 // mutants meet only the checks that they name
  std::optional<std::uint64_t> seed;  // of the first run
};

/// Runs every mutant, honest variant, null solution and the reference through the same path as a
/// submission.
AuditReport audit_challenge(const Workshop& workshop, const Challenge& challenge,
                            const AuditOptions& options, const Progress& progress);

}  // namespace gauntlet
