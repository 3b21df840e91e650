// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/cli/cell_document.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/report/terminal/terminal_attempts.h"
#include "harness/store/reuse.h"

namespace gauntlet {
namespace {

/// The grade that score.json has now, "C+ 79"; empty when there is none.
std::string recorded_grade(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return "";
  const auto in =
      JsonFields::of_document(read_file(file, kResultFile), file.string(), "gauntlet.score/1");
  if (!in.has("letter")) return in.text("status");
  const std::string letter = in.text("letter");
  const auto printed = in.integer("printed");
  if (!in.has("high_letter") || in.text("high_letter") == letter)
    return fmt::format("{} {}", letter, printed);
  return fmt::format("{}..{}, {} to {}", letter, in.text("high_letter"), printed,
                     in.integer("high_printed"));
}

}  // namespace

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
    const auto file = context.store().score_file(cell.key);
    const std::string before = recorded_grade(file);
    const std::string now = scored.score.score ? grade_text(scored.score, ascii_signs())
                                               : std::string(name_of(scored.score.status));
    if (!before.empty() && before != now)
      moved += fmt::format("  {} {}: {} -> {}\n", cell.key.row(), cell.key.column(), before, now);
    write_file(file, to_json(scored.score, rubric));
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
