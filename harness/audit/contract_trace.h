// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/grading/audit_suite.h"

namespace gauntlet {

/// One thing that contract.h says of the caller or of a solution, and who sees to it.
struct ContractStatement {
  std::string id;                    // short, readable: "rows_start_at_strides"
  std::string says;                  // its exact words in contract.h
  std::vector<std::string> checks;   // that ask it
  std::vector<std::string> mutants;  // that break it
  std::string not_asked;             // why it is not asked, or which part of it; else empty
  int line = 0;                      // of contract.h, where its words begin

  enum class Asked { wholly, in_part, not_at_all };
  Asked asked() const;
};

/// graders/<id>/contract.yaml held against contract.h, the checks and the mutants.
struct ContractTrace {
  std::vector<ContractStatement> statements;
  std::vector<std::string> problems;  // sentences; empty: as it should be

  std::size_t count(ContractStatement::Asked asked) const;
};

/// What a trace is made from; the two texts are those of the files.
struct ContractSources {
  std::string contract;
  std::string trace;
  std::string trace_name;           // shown in messages
  std::vector<std::string> checks;  // ids
  std::vector<Mutant> mutants;
};

/// Every word of a comment in contract.h has to belong to a statement, or to what only explains. A
/// statement has to have a check and a mutant which names that check as its killer, or a reason why
/// not; and a check a statement that it asks. What does not fit is a problem of the trace; throws
/// UserError where contract.yaml cannot be read.
ContractTrace trace_contract(const ContractSources& sources);

/// The same for a challenge of the checkout. A missing contract.yaml is a problem.
ContractTrace trace_contract(const std::filesystem::path& root, const std::string& challenge_id,
                             const Grader& grader);

}  // namespace gauntlet
