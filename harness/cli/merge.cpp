// SPDX-License-Identifier: Apache-2.0
#include "harness/run/merge.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/cell_document.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/verbs.h"
#include "harness/core/hold_interrupts.h"
#include "harness/core/text.h"
#include "harness/report/model/grade_changes.h"
#include "harness/store/ledger.h"

namespace gauntlet {
namespace {

/// A line for each grade that is replaced, the earliest later run first.
std::vector<LedgerEntry> ledger_of(const MergePlan& plan, const Rubric& rubric) {
  std::vector<LedgerEntry> entries;
  for (const MergePlan::Cell& cell : plan.cells) {
    if (!cell.before) continue;
    const CellObservation after = *ResultStore(cell.from).load(cell.key);
    entries.push_back({after.provenance.started, cell.key.row(), cell.key.column(),
                       published_grade(rubric, *cell.before), published_grade(rubric, after),
                       what_differs(*cell.before, after)});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const LedgerEntry& a, const LedgerEntry& b) { return a.when < b.when; });
  return entries;
}

}  // namespace

VerbResult merge(const Context& context, const MergeOptions& options) {
  const Rubric rubric = context.rubric();
  const ResultStore into = context.store_in(options.into);
  std::vector<ResultStore> folders;
  for (const auto& folder : options.folders) folders.push_back(context.store_in(folder));
  const MergePlan plan = plan_merge(folders, into);
  const auto replaced = ledger_of(plan, rubric);
  {
    const HoldInterrupts hold;  // no grade is replaced without its line
    append_to_ledger(into.root() / "ledger.jsonl", replaced);
    carry_out(plan, into, rubric);
  }
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.merge/1"},
                     {"into", into.root().string()},
                     {"added", plan.cells.size() - replaced.size()},
                     {"replaced", replaced.size()},
                     {"same", plan.same},
                     {"complete", plan.missing.empty()},
                     {"missing", Json(plan.missing)}};
  answer.text = fmt::format("{}: {} cells added, {} replaced, {} there already\n",
                            one_line(into.root().string(), 400),
                            plan.cells.size() - replaced.size(), replaced.size(), plan.same);
  for (const std::string& sentence : plan.missing) answer.text += "missing: " + sentence + "\n";
  if (!plan.missing.empty()) answer.exit_code = kExitIncomplete;
  return answer;
}

}  // namespace gauntlet
