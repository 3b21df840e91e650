// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/cli/cell_document.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/report/terminal/terminal_attempts.h"
#include "harness/run/keep.h"
#include "harness/store/reuse.h"

namespace gauntlet {

VerbResult score(const Context& context) {
  const Rubric rubric = context.rubric();
  const auto cells = load_all_marked(context.store());
  if (cells.empty())
    throw UserError(
        fmt::format("{} holds no results; grade something first", context.results.string()),
        kExitNothingMatched);
  remark_older_graders(context, cells);
  const Board board(rubric, cells, {});
  VerbResult answer;
  answer.document = {{"schema", "gauntlet.rescore/1"}, {"cells", Json::array()}};
  std::string moved;
  for (const auto& cell : cells) {
    const BoardCell& scored = *board.find(cell.key);
    const std::string before = keep_score(context.store(), rubric, cell);
    const std::string now = scored.score.score ? grade_text(scored.score, ascii_signs())
                                               : std::string(name_of(scored.score.status));
    if (!before.empty() && before != now)
      moved += fmt::format("  {} {}: {} -> {}\n", cell.key.row(), cell.key.column(), before, now);
    answer.document["cells"].push_back(cell_document(rubric, scored, cell));
    answer.document["cells"].back()["before"] = before;
  }
  add_attempts(board, answer.document);
  answer.text =
      terminal_matrix(rubric, board, board.challenges(), context.style) +
      terminal_attempts(rubric, board, board.submissions(), board.challenges(), context.style) +
      (moved.empty() ? "No grade moved.\n" : "Moved:\n" + moved);
  return answer;
}

}  // namespace gauntlet
