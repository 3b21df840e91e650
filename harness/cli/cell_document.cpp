// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/cell_document.h"

#include "harness/report/text/phrases.h"
#include "harness/score/judge_claims.h"

namespace gauntlet {

Json cell_document(const Rubric& rubric, const BoardCell& scored, const CellObservation& cell) {
  Json document = Json::parse(to_json(scored.score, rubric));
  document.erase("schema");
  document["seed"] = cell.seed.text();
  document["built"] = cell.build.ok;
  if (!cell.unproven.empty()) document["unproven"] = cell.unproven;
  if (scored.placement) document["place"] = ordinal(*scored.placement);
  document["findings"] = Json::array();
  for (const auto& check : cell.checks)
    if (check.finding)
      document["findings"].push_back(
          {{"check", check.info.id},
           {"verdict", name_of(check.verdict)},
           {"severity", name_of(check.info.severity)},
           {"case", check.finding->case_name},
           {"summary", check.finding->summary},
           {"show", show_command(cell.key.row(), cell.key.column(), check.info.id)},
           {"reproduce", rerun_command(cell, check.info.id)}});
  for (const JudgedClaim& one : judge_claims(cell))
    document["stated_claims"].push_back(to_json(one));
  if (!cell.claims_fault.empty()) document["claims_fault"] = cell.claims_fault;
  return document;
}

}  // namespace gauntlet
