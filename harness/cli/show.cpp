// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/cell_document.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/report_input.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/report/terminal/terminal_attempts.h"
#include "harness/store/observation_json.h"
#include "harness/store/reuse.h"

namespace gauntlet {
namespace {

std::vector<CellObservation>::const_iterator find_cell(const std::vector<CellObservation>& cells,
                                                       const CellKey& key) {
  return std::find_if(cells.begin(), cells.end(),
                      [&](const CellObservation& cell) { return cell.key == key; });
}

/// The results of a cell's challenge that know it: the local ones, else those that the reports were
/// made from.
std::vector<CellObservation> results_with(const Context& context, const CellKey& key) {
  const ResultStore local = context.store();
  const auto same_column = [&](const CellKey& one) { return one.column() == key.column(); };
  if (local.load(key)) return load_all_marked(local, same_column);
  auto published = published_cells(context);
  if (find_cell(published, key) != published.end()) {
    context.remark("from reports/data; nothing was graded here");
    return published;
  }
  const auto known = local.submissions();
  throw UserError(
      fmt::format("no result of '{}' for '{}'{}; grade it first: ./gauntlet grade {}", key.row(),
                  key.column(), did_you_mean(key.submission, known), key.generation()),
      kExitNothingMatched);
}

const CheckObservation& find_check(const CellObservation& cell, const std::string& id) {
  std::vector<std::string> known;
  for (const auto& check : cell.checks) {
    if (check.info.id == id) return check;
    known.push_back(check.info.id);
  }
  throw UserError(
      fmt::format("{} {} has no check '{}'{}; it has {}", cell.key.row(), cell.key.column(),
                  printable(id, 80), did_you_mean(id, known), sentence_list(known)),
      kExitNothingMatched);
}

}  // namespace

VerbResult show(const Context& context, const ShowOptions& options) {
  const std::size_t slash = options.what.find('/');
  const CellKey key = CellKey::of(options.submission, options.what.substr(0, slash));
  const auto results = results_with(context, key);
  const CellObservation& cell = *find_cell(results, key);
  remark_older_graders(context, {cell});
  const Rubric rubric = context.rubric();
  const Board board(rubric, results, {});
  const BoardCell& scored = *board.find(cell.key);
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.show/1"}, {"cell", cell_document(rubric, scored, cell)}};
  if (slash == std::string::npos) {
    answer.text = terminal_details(rubric, scored, cell, context.style) +
                  terminal_attempts_line(board, cell.key, context.style);
    add_attempts(board, cell.key, answer.document);
    return answer;
  }
  const CheckObservation& check = find_check(cell, options.what.substr(slash + 1));
  answer.text = terminal_check(rubric, scored, cell, check, context.style);
  const Json all = Json::parse(to_json(cell));
  for (const auto& one : all["checks"])
    if (one["id"] == check.info.id) answer.document["check"] = one;
  return answer;
}

}  // namespace gauntlet
