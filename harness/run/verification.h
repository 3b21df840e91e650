// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/run/runner.h"
#include "harness/run/submissions.h"
#include "harness/score/rubric.h"
#include "harness/store/cell_comparison.h"
#include "harness/store/result_store.h"

namespace gauntlet {

/// A receipt, and what it speaks of.
struct Claim {
  Receipt receipt;
  SubmissionFolder submission;
  std::filesystem::path file;  // of the receipt; what else the run wrote lies beside it
};

/// Throws UserError for a file that is no receipt, or one of a submission that is not here.
Claim claim_in_file(const Folders& folders, const std::filesystem::path& file);

/// Throws UserError when the store has no receipt of the cell, saying what to do.
Claim claim_in_store(const ResultStore& store, const SubmissionFolder& submission,
                     const CellKey& key);

/// What was printed when the run began and when it ended; empty: nobody kept it.
struct PrintedDigests {
  std::string commitment;
  std::string closing;
};

/// What a claim is verified with.
struct VerifyTerms {
  const GradingEnvironment& environment;
  Runner& runner;
  Rubric rubric;
  Progress progress;
};

/// What a new run could not confirm.
struct Left {
  std::vector<Unrepeated> unrepeated;
  std::vector<std::string> not_compared;
  std::vector<std::string> wavering;     // as near to the new runs as these to each other
  std::vector<std::string> unconfirmed;  // and what is not
};

struct Verification {
  std::vector<Proof> proofs;
  Left left;
};

/// Checks the files against each other, then builds and runs the cell again with its seed, without
/// races, unless the files refute the claim already. Throws UserError for the receipt of a run that
/// never ended.
Verification verify_claim(const VerifyTerms& terms, const Claim& claim,
                          const PrintedDigests& printed);

}  // namespace gauntlet
