// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "harness/core/digest.h"
#include "harness/store/observation_json.h"
#include "harness/store/receipt.h"
#include "harness/store/receipt_signature.h"
#include "tests/store/sample.h"

namespace gauntlet::sample {

/// A full cell whose digests are ones.
inline CellObservation graded_cell() {
  CellObservation cell = full_cell();
  cell.provenance.submission_digest = sha256("sources");
  cell.provenance.grader_digest = sha256("grader");
  return cell;
}

/// The receipt of a run that saw this cell.
inline Receipt receipt_of(const CellObservation& cell, bool seed_drawn = true) {
  Receipt made{cell.key,
               seed_drawn,
               "",
               cell.provenance.submission_digest,
               sha256("library"),
               cell.provenance.grader_digest,
               cell.provenance.gauntlet_version,
               cell.build.compiler,
               cell.provenance.cpu,
               cell.provenance.sandbox,
               cell.provenance.started,
               "",
               Receipt::Closing()};
  ReceiptKey key;
  made.signer = key.public_key();
  made.closing->seed = cell.seed;
  made.closing->nonce = fresh_nonce();
  made.closing->observation = sha256(to_json(cell));
  for (const CheckObservation& check : cell.checks)
    made.closing->checks.push_back({check.info.id, check.verdict, false, 3, 16, 17, 4});
  made.commitment = commitment_to(made, made.closing->seed, made.closing->nonce);
  made.closing->signature = std::move(key).sign(closing_digest(made));
  return made;
}

}  // namespace gauntlet::sample
