// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/check.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

/// With how many seeds a check noticed a mutant.
struct KillCount {
  std::string check;
  int killed = 0;
  int asked = 0;
};

/// "strides"; "strides (2 of 3 seeds)" when some seed missed.
std::string in_words(const KillCount& count);

/// How the graders of one challenge fared in an audit, as a report keeps it.
struct AuditRecord {
  struct Row {
    std::string kind;  // "mutant", "honest", "null", "reference"
    std::string name;
    std::string note;                        // fault or strategy
    std::vector<KillCount> named;            // mutants: the checks that must notice it
    std::vector<std::string> failed_checks;  // what failed with the first seed, in check order
    std::vector<std::string> problems;       // empty: as it should be
    std::string seed;
  };
  std::string challenge;
  Device device = Device::cpu;           // whose solutions were tried
  std::string grader_digest;             // of the grader that was audited
  std::vector<std::string> checks;       // all that there are, in the grader's order
  std::vector<std::string> idle_checks;  // that killed no mutant
  std::vector<Row> rows;

  std::string entry() const;  // "first@cuda": see CellKey::entry

  /// Rows of a kind, and how many of them had no problem.
  std::size_t count(std::string_view kind) const;
  std::size_t right(std::string_view kind) const;
  /// Of how many pairs of a mutant and a check that it names the check missed it with some seed.
  std::size_t missed_once() const;
};

/// The fields of an audit's document, as --json prints it.
Json to_json(const AuditRecord& record);

/// <folder>/<challenge>[@<device>].json, schema "gauntlet.audit-record/4": a line for each mutant
/// and honest run, without seed and note; equal ones that follow each other share one. Records of
/// schema 3 are read as well.
void save_audit(const std::filesystem::path& folder, const AuditRecord& record);

/// All that a folder holds, by challenge and device; none when it is not there. Throws UserError
/// (file, field).
std::vector<AuditRecord> load_audits(const std::filesystem::path& folder);

}  // namespace gauntlet
