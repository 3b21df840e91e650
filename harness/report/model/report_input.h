// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/score/board.h"
#include "harness/score/needs.h"
#include "harness/score/rubric.h"
#include "harness/store/audit_record.h"
#include "harness/store/judgement.h"
#include "harness/store/ledger.h"
#include "harness/store/model_card.h"
#include "harness/store/observation.h"

namespace gauntlet {

/// A column of the matrix, as challenges/<id>/challenge.yaml describes it.
struct ChallengeTitle {
  std::string id;
  std::string title;
  std::string difficulty;
  int round = 0;
  std::string asks = {};  // the first paragraph of PROMPT.md
};

/// All that a report is made from. The same value gives the same bytes, whatever the order of
/// cells.
struct ReportInput {
  Rubric rubric;
  std::vector<ChallengeTitle> challenges;  // columns in order
  std::vector<CellObservation> cells;
  std::map<std::string, ModelCard> cards;  // by submission; the reference has none
  std::vector<Need> needs;
  std::vector<LedgerEntry> ledger;
  std::map<std::string, Judgement> judgements;  // published grades by the name of their file
  std::vector<AuditRecord> audits;
  Attempts attempts = Attempts::together;
};

}  // namespace gauntlet
