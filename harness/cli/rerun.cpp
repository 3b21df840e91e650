// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/cell_document.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/progress.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/store/observation_json.h"
#include "harness/store/reuse.h"

namespace gauntlet {
namespace {

bool incomplete(const CellObservation& cell) {
  return std::any_of(cell.checks.begin(), cell.checks.end(),
                     [](const auto& check) { return check.verdict == Verdict::broken; });
}

void require_checks(const CellKey& key, const RerunOptions& options) {
  std::vector<std::string> known;
  for (const CheckInfo& check : checks_of(key.challenge, key.device)) known.push_back(check.id);
  for (const auto& check : options.checks)
    if (std::find(known.begin(), known.end(), check) == known.end())
      throw UserError(fmt::format("{0} has no check '{1}'{2}; see ./gauntlet list checks -c {0}",
                                  CellKey{"", key.challenge, "", key.device}.entry(),
                                  printable(check, 80), did_you_mean(check, known)),
                      kExitNothingMatched);
}

/// Some checks only: shows what they saw and keeps nothing, since a cell is graded as a whole.
VerbResult rerun_checks(const Context& context, PlannedCell cell, const RerunOptions& options) {
  require_checks(cell.request.key(), options);
  cell.request.only_checks = options.checks;
  ProgressDisplay display(*context.err, context.live, context.quiet, 1);
  const auto cells =
      context.runner().grade({cell.request}, [&](const CellEvent& event) { display.show(event); });
  const CellObservation& seen = cells.front();
  const Rubric rubric = context.rubric();
  const BoardCell scored{score_cell(rubric, seen), std::nullopt};
  VerbResult answer;
  if (!seen.build.ok) answer.text = terminal_cell(scored, seen, context.style);
  for (const auto& check : seen.checks)
    answer.text += terminal_check(rubric, scored, seen, check, context.style);
  answer.document = {
      {"schema", "gauntlet.rerun/1"}, {"kept", false}, {"observation", Json::parse(to_json(seen))}};
  if (incomplete(seen)) answer.exit_code = kExitIncomplete;
  return answer;
}

VerbResult rerun_cell(const Context& context, PlannedCell cell) {
  const Rubric rubric = context.rubric();
  std::optional<CellScore> before;
  try {
    const auto stored = context.store().load(cell.request.key());
    if (stored) before = score_cell(rubric, *stored);
  } catch (const UserError& error) {
    context.remark(fmt::format("the old result is replaced: {}", error.what()));
  }
  ProgressDisplay display(*context.err, context.live, context.quiet, 1);
  LocalRunner runner = context.runner();
  std::vector<PlannedCell> plan{std::move(cell)};
  const auto cells = carry_out(runner, context.store(), rubric, plan,
                               [&](const CellEvent& event) { display.show(event); });
  const auto same_column = [&](const CellKey& key) {
    return key.column() == cells[0].key.column();
  };
  const Board board(rubric, load_all_marked(context.store(), same_column), {});
  const BoardCell& scored = *board.find(cells[0].key);
  VerbResult answer;
  answer.text = terminal_details(rubric, scored, cells[0], context.style);
  if (before)
    answer.text += fmt::format("Was {}, now {}.\n", grade_text(*before, ascii_signs()),
                               grade_text(scored.score, ascii_signs()));
  answer.document = {{"schema", "gauntlet.rerun/1"},
                     {"kept", true},
                     {"cell", cell_document(rubric, scored, cells[0])}};
  if (incomplete(cells[0])) answer.exit_code = kExitIncomplete;
  return answer;
}

}  // namespace

VerbResult rerun(const Context& context, const RerunOptions& options) {
  const SubmissionFolder submission = find_submission(context.folders(), options.submission);
  const CellKey key = cell_named(submission, options.challenge, context.challenges());
  std::vector<std::string> taken;
  for (const SolutionFolder& solution : solutions_of(submission, context.challenges()))
    taken.push_back(CellKey{"", solution.challenge, "", solution.device}.entry());
  if (const std::string asked = CellKey{"", key.challenge, "", key.device}.entry();
      !contains(taken, asked))
    throw UserError(fmt::format("{} has no solution to {}; it has {}", key.generation(), asked,
                                sentence_list(taken)),
                    kExitNothingMatched);
  PlannedCell cell = plan_cell(context.plan_terms(true), submission, key);
  if (!options.checks.empty()) return rerun_checks(context, std::move(cell), options);
  if (!submission.is_reference()) {
    const ModelCard card = model_card_of(submission);
    context.store().claim(key, submission.folder, context.workspace);
    context.store().save_model_card(key, card);
  }
  return rerun_cell(context, std::move(cell));
}

}  // namespace gauntlet
