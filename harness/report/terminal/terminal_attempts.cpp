// SPDX-License-Identifier: Apache-2.0
#include "harness/report/terminal/terminal_attempts.h"

#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {

std::string terminal_attempts(const Rubric& rubric, const Board& board,
                              const std::vector<std::string>& submissions,
                              const std::vector<std::string>& challenges,
                              const TerminalStyle& style) {
  std::string text;
  for (const SubmissionAttempts& several : several_attempts(board)) {
    if (!contains(submissions, several.submission)) continue;
    text += terminal_table(rubric, board, several.rows, challenges, style);
    for (const auto& challenge : challenges)
      if (const AttemptSummary* summary = several.find(challenge))
        text += fmt::format("{} {}: {}\n", several.submission, challenge, attempts_text(*summary));
    text += "\n";
  }
  return text;
}

std::string terminal_attempts_line(const Board& board, const CellKey& key,
                                   const TerminalStyle& style) {
  const std::string submission = board.submission(key);
  const auto summary = attempts_in(board, submission, key.column());
  if (!summary) return "";
  const Signs& signs = signs_of(style);
  return fmt::format(
      "All attempts: {} {}; {}\n", cell_text(board.find(submission, key.column()), signs),
      spread_text(*summary, board.attempts(submission).size(), signs), attempts_text(*summary));
}

}  // namespace gauntlet
