// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/cell_document.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/report/text/phrases.h"
#include "harness/score/attempts.h"
#include "harness/score/judge_claims.h"

namespace gauntlet {
namespace {

bool is_of_older_grader(const CellObservation& cell) {
  const auto graders = all_graders();
  const auto own = std::find_if(graders.begin(), graders.end(), [&](const GraderEntry& grader) {
    return grader.id == cell.key.challenge;
  });
  return own != graders.end() && own->digest(cell.key.device) != cell.provenance.grader_digest;
}

}  // namespace

Json cell_document(const Rubric& rubric, const BoardCell& scored, const CellObservation& cell) {
  Json document = Json::parse(to_json(scored.score, rubric));
  document.erase("schema");
  document["seed"] = cell.seed.text();
  document["built"] = cell.build.ok;
  if (!cell.unproven.empty()) document["unproven"] = cell.unproven;
  if (is_of_older_grader(cell)) document["older_grader"] = true;
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

void add_attempts(const Board& board, Json& document) {
  for (const SubmissionAttempts& one : several_attempts(board))
    document["attempts"].push_back(to_json(one));
}

void add_attempts(const Board& board, const CellKey& only, Json& document) {
  for (const SubmissionAttempts& one : several_attempts(board))
    if (one.submission == board.submission(only)) document["attempts"] = to_json(one);
}

void remark_older_graders(const Context& context, const std::vector<CellObservation>& cells) {
  for (const CellObservation& cell : cells)
    if (is_of_older_grader(cell))
      context.remark(fmt::format(
          "{} {}: graded before its grader changed; ./gauntlet grade {} -c {} asks it anew",
          cell.key.row(), cell.key.column(), cell.key.generation(), cell.key.entry()));
}

}  // namespace gauntlet
