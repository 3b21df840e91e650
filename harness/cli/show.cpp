#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/exit_codes.h"
#include "harness/cli/grading_run.h"
#include "harness/cli/report_input.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/store/observation_json.h"

namespace gauntlet {
namespace {

std::vector<CellObservation>::const_iterator find_cell(const std::vector<CellObservation>& cells,
                                                       const std::string& submission,
                                                       const std::string& challenge) {
  return std::find_if(cells.begin(), cells.end(), [&](const CellObservation& cell) {
    return cell.submission == submission && cell.challenge == challenge;
  });
}

/// The results that know the cell: the local ones, else those that the reports were made from.
std::vector<CellObservation> results_with(const Context& context, const std::string& submission,
                                          const std::string& challenge) {
  const ResultStore local = context.store();
  if (local.load(submission, challenge)) return local.load_all();
  auto published = published_cells(context);
  if (find_cell(published, submission, challenge) != published.end()) {
    context.remark("from reports/data; nothing was graded here");
    return published;
  }
  const auto known = local.submissions();
  throw UserError(fmt::format("no result of '{}' for '{}'{}; grade it first: ./gauntlet grade {}",
                              submission, challenge, did_you_mean(submission, known), submission),
                  kExitNothingMatched);
}

const CheckObservation& find_check(const CellObservation& cell, const std::string& id) {
  std::vector<std::string> known;
  for (const auto& check : cell.checks) {
    if (check.info.id == id) return check;
    known.push_back(check.info.id);
  }
  throw UserError(
      fmt::format("{} {} has no check '{}'{}; it has {}", cell.submission, cell.challenge,
                  printable(id, 80), did_you_mean(id, known), sentence_list(known)),
      kExitNothingMatched);
}

}  // namespace

VerbResult show(const Context& context, const ShowOptions& options) {
  const std::size_t slash = options.what.find('/');
  const std::string challenge = options.what.substr(0, slash);
  const auto results = results_with(context, options.submission, challenge);
  const CellObservation& cell = *find_cell(results, options.submission, challenge);
  const Rubric rubric = context.rubric();
  const Board board(rubric, results, {});
  const BoardCell& scored = *board.find(cell.submission, cell.challenge);
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.show/1"}, {"cell", cell_document(rubric, scored, cell)}};
  if (slash == std::string::npos) {
    answer.text = terminal_details(rubric, scored, cell, context.style);
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
