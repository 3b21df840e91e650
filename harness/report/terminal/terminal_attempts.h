// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/report/terminal/terminal.h"
#include "harness/score/attempts.h"

namespace gauntlet {

/// Of each of these submissions that made several attempts: these one by one, without places, and
/// how often they passed. Empty where none did.
std::string terminal_attempts(const Rubric& rubric, const Board& board,
                              const std::vector<std::string>& submissions,
                              const std::vector<std::string>& challenges,
                              const TerminalStyle& style);

/// What the attempts of a cell's submission came to in its challenge, in a line; empty where it is
/// the only one.
std::string terminal_attempts_line(const Board& board, const CellKey& key,
                                   const TerminalStyle& style);

}  // namespace gauntlet
