// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/report/text/phrases.h"

namespace gauntlet {

/// What the place where the answer is printed can show.
struct TerminalStyle {
  bool color = false;
  bool unicode = true;
  int width = 100;  // columns
};

const Signs& signs_of(const TerminalStyle& style);

enum class Paint { plain, good, fair, bad, dim };

std::string painted(const TerminalStyle& style, Paint paint, const std::string& text);

/// Rows of text in columns, two spaces apart: the first `left` to the left, the others to the
/// right. Widths count characters, not bytes.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left = 1);

/// The grade matrix of `challenges`, several attempts of a submission in one row; wrapped into
/// several tables where it would not fit.
std::string terminal_matrix(const Rubric& rubric, const Board& board,
                            const std::vector<std::string>& challenges, const TerminalStyle& style);

/// The same for these rows of the board, without the legend.
std::string terminal_table(const Rubric& rubric, const Board& board,
                           const std::vector<std::string>& submissions,
                           const std::vector<std::string>& challenges, const TerminalStyle& style);

/// One graded cell: a line with grade, cap and counts, and a line for each finding.
std::string terminal_cell(const BoardCell& scored, const CellObservation& cell,
                          const TerminalStyle& style, const std::string& note = "");

/// Section scores, findings, speeds of one cell.
std::string terminal_details(const Rubric& rubric, const BoardCell& scored,
                             const CellObservation& cell, const TerminalStyle& style);

/// One check explained: what it attacks, what it saw, what it costs, how to see it again.
std::string terminal_check(const Rubric& rubric, const BoardCell& scored,
                           const CellObservation& cell, const CheckObservation& check,
                           const TerminalStyle& style);

}  // namespace gauntlet
