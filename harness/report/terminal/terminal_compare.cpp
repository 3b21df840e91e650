// SPDX-License-Identifier: Apache-2.0
#include "harness/report/terminal/terminal_compare.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/model/criteria.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

std::string record_lines(const Aggregate& all) {
  std::string text;
  for (const auto& pair : all.pairs) {
    const Record& record = pair.record;
    text += fmt::format("{} {} {}: {} won, {} lost, {} tied, {} not comparable", pair.first,
                        record.verb(), pair.second, record.won, record.lost, record.tied,
                        record.not_comparable);
    if (pair.mean_difference)
      text += fmt::format("; {:+.1f} points on average", *pair.mean_difference);
    if (!pair.unequal_conditions || !pair.unequal_conditions->empty())
      text += "; not known to have run under the same conditions";
    text += "\n";
  }
  return text;
}

std::string grade(const Aggregate& all, const std::string& submission, const std::string& challenge,
                  const Signs& signs) {
  const ReportedCell* cell = all.find(submission, challenge);
  if (!cell) return signs.absent;
  const BoardCell unplaced{cell->score, std::nullopt};  // a place among these few says nothing
  return cell_text(&unplaced, signs);
}

void add_verdict(const ReportedPair& pair, const PairRow& row, std::vector<std::string>& cells) {
  cells.push_back(row.difference ? fmt::format("{:+.1f}", *row.difference) : "");
  cells.push_back(row.verdict.winner > 0 ? pair.first : row.verdict.winner < 0 ? pair.second : "");
  cells.push_back(std::string(name_of(row.verdict.margin)));
}

}  // namespace

std::string terminal_comparison(const Aggregate& all, const TerminalStyle& style) {
  const bool two = all.submissions.size() == 2 && all.pairs.size() == 1;
  std::vector<std::vector<std::string>> rows{{"Challenge"}};
  for (const auto& submission : all.submissions) rows[0].push_back(submission.name);
  if (two) rows[0].insert(rows[0].end(), {"Difference", "Winner", "Margin"});
  for (const auto& challenge : all.standard_challenges()) {
    rows.push_back({challenge});
    for (const auto& submission : all.submissions)
      rows.back().push_back(grade(all, submission.name, challenge, signs_of(style)));
    if (two)
      for (const PairRow& row : all.pairs.front().rows)
        if (row.challenge == challenge) add_verdict(all.pairs.front(), row, rows.back());
  }
  rows.push_back({"Mean"});
  for (const auto& submission : all.submissions)
    rows.back().push_back(mean_text(all.rubric, submission.mean, signs_of(style)));
  return record_lines(all) + "\n" + aligned(rows);
}

std::string terminal_criteria(const Aggregate& all, const ReportedPair& pair,
                              const std::string& challenge, const TerminalStyle& style) {
  std::vector<std::vector<std::string>> rows{{"  Criterion", pair.first, pair.second, "Edge"}};
  for (const Criterion& one : criteria(all, pair, challenge))
    rows.push_back({"  " + one_line(one.name) + (one.critical ? " (critical)" : ""),
                    one_line(one.first), one_line(one.second),
                    one.edge == 0
                        ? ""
                        : painted(style, Paint::good, one.edge > 0 ? pair.first : pair.second)});
  return fmt::format("\n{}\n", challenge) + aligned(rows, rows[0].size());
}

}  // namespace gauntlet
