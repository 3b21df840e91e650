// SPDX-License-Identifier: Apache-2.0
#include "harness/report/terminal/terminal_compare.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/model/criteria.h"
#include "harness/report/model/matrix_text.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

/// Whether the data support the order of two means; nothing where they were not compared.
std::string support_line(const Aggregate& all, const ReportedPair& pair) {
  for (const auto& submission : all.submissions) {
    if (!submission.ranked || !submission.ranked->place || !submission.ranked->place->behind)
      continue;
    const bool of_pair =
        (submission.name == pair.first && submission.ranked->ahead == pair.second) ||
        (submission.name == pair.second && submission.ranked->ahead == pair.first);
    if (!of_pair) continue;
    const Behind& behind = *submission.ranked->place->behind;
    return fmt::format(
        "{} behind {} by {:.1f} points of the mean, {:.0f}% of {} resamples {:.1f} to {:.1f}: {}\n",
        submission.name, submission.ranked->ahead, behind.points, all.rubric.confidence * 100,
        all.rubric.resamples, behind.interval.low, behind.interval.high,
        behind.interval.low > 0 ? "the data support it" : "the data do not support a difference");
  }
  return "";
}

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
    text += "\n" + support_line(all, pair);
  }
  return text;
}

/// What the attempts of each that made several came to.
std::string attempt_lines(const Aggregate& all) {
  std::string text;
  for (const SubmissionAttempts& several : all.attempts)
    if (several.overall)
      text += fmt::format("{}, {} attempts: {}\n", several.submission, several.rows.size(),
                          attempts_text(*several.overall));
  return text;
}

std::string grade(const Aggregate& all, const std::string& submission, const std::string& challenge,
                  const Signs& signs) {
  auto cell = all.score(submission, challenge);
  if (!cell) return signs.absent;
  cell->placement.reset();  // a place among these few says nothing
  const SubmissionAttempts* several = all.attempts_of(submission);
  const AttemptSummary* summary = several ? several->find(challenge) : nullptr;
  return cell_text(&*cell, signs) +
         (summary ? " " + spread_text(*summary, several->rows.size(), signs) : "");
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
    rows.back().push_back(matrix_mean(all, submission, signs_of(style)));
  return record_lines(all) + attempt_lines(all) + "\n" + aligned(rows);
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
