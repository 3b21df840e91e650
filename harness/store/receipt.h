// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/cell_key.h"
#include "harness/core/seed.h"
#include "harness/core/verdict.h"

namespace gauntlet {

/// What one check put to a solution and got back, in the order of its calls. Where `timed`, the
/// check raced, had the machine to itself, or judges what such a check got; the hashes end where
/// that began: what follows depends on the clock.
struct CheckTrace {
  std::string id;
  Verdict verdict = Verdict::broken;
  bool timed = false;
  int calls = 0;
  std::uint64_t opening = 0;  // XXH64, chained: inputs up to the first answer, which follow from
                              // the seed and the source alone
  std::uint64_t inputs = 0;   // all of them; some are made of earlier outputs
  std::uint64_t outputs = 0;  // with what callbacks were asked and answered
};

/// What proves later that a grade was not arranged: written before the first check with a
/// commitment to the seed and to a key, and once more after the last one with everything revealed
/// and signed with that key, of which nothing is left then. Who kept the commitment tells any later
/// edit; who kept the closing digest as well.
struct Receipt {
  static constexpr int kSchema = 2;

  /// What only the end of the run knows or may tell.
  struct Closing {
    Seed seed;
    std::string nonce;        // 256 random bits, so that nobody finds the seed by trying
    std::string reference;    // SHA-256 of the reference's library; empty when nothing raced
    std::string observation;  // SHA-256 of observation.json
    std::vector<CheckTrace> checks;
    std::string signature;  // of the closing digest, by the key in `signer`
  };

  CellKey key;
  bool seed_drawn = true;  // false: whoever graded chose it
  std::string commitment;
  std::string sources;  // SHA-256, as the next two: of the solution's files
  std::string library;  // what was built of them; empty when they did not build
  std::string grader;
  std::string gauntlet_version;
  std::string compiler;
  std::string cpu;
  std::string sandbox;
  std::string started;
  std::string signer;              // public half of a ReceiptKey
  std::optional<Closing> closing;  // absent while the run goes on
};

/// 64 hex digits from the kernel.
std::string fresh_nonce();

/// SHA-256 over the seed, the nonce, and everything else that is known when a run begins.
std::string commitment_to(const Receipt& receipt, const Seed& seed, const std::string& nonce);

/// SHA-256 over the commitment and the closing part but for its signature: what is signed, and
/// printed when the run ends.
std::string closing_digest(const Receipt& receipt);

/// SHA-256 over what was put to the solution in all checks, and over all that came back.
std::string cases_digest(const Receipt::Closing& closing);
std::string outputs_digest(const Receipt::Closing& closing);

/// Schema "gauntlet.receipt/2". The same receipt gives the same bytes on every machine.
std::string to_json(const Receipt& receipt);

/// Reads what to_json wrote, byte for byte. Throws UserError naming `shown_name` for anything else.
Receipt receipt_from_json(const std::string& text, const std::string& shown_name);

}  // namespace gauntlet
