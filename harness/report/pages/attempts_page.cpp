// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/model/matrix_text.h"
#include "harness/report/model/strengths.h"
#include "harness/report/pages/pages.h"
#include "harness/report/pages/sentences.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

using markdown::Table;

std::string opening(const Aggregate& all, Claims& claims, const ReportedSubmission& submission) {
  std::string text = fmt::format(
      "{} attempts, of which each has a page; the submission is placed by their mean.\n\n",
      all.attempts_of(submission.name)->rows.size());
  if (submission.is_reference() || !submission.ranked || !submission.mean) return text;
  text += fmt::format("Mean {}", matrix_mean(all, submission, unicode_signs()));
  if (submission.ranked->place)
    text += fmt::format(", [rank](../ranking.md) {}", ordinal(*submission.ranked->place));
  return text + ".\n\n" + trajectory_sentence(claims, submission, "submission") + "\n\n";
}

void add_row(const std::string& what, const std::string& mean, const AttemptSummary& summary,
             Table& table) {
  table.row({what, std::to_string(summary.attempts), mean,
             summary.deviation ? points(*summary.deviation) : unicode_signs().absent,
             passed_text(summary), pass_text(summary)});
}

std::string results(const Aggregate& all, const ReportedSubmission& submission) {
  const SubmissionAttempts& several = *all.attempts_of(submission.name);
  Table table({"Challenge", "Attempts", "Mean, lowest and best", "Standard deviation", "Passed",
               "Of k attempts one passes"});
  for (const auto& [challenge, summary] : several.challenges)
    add_row(challenge_link(all, challenge, "../"),
            matrix_text(all, submission.name, challenge, unicode_signs()), summary, table);
  if (several.overall)
    add_row("All", matrix_mean(all, submission, unicode_signs()), *several.overall, table);
  return fmt::format(
      "## What they came to\n\n{}\n"
      "The standard deviation is the sample's (n - 1), and known where every attempt was measured "
      "in full. {} pass@k is the chance that one of k attempts passes or more, estimated without "
      "bias from all of them, and said for no k beyond their number; over all challenges it is "
      "the mean of theirs.\n\n",
      table.str(), what_passes(all));
}

std::string single_attempts(const Aggregate& all, const ReportedSubmission& submission) {
  const SubmissionAttempts& several = *all.attempts_of(submission.name);
  std::string text = "## Single attempts\n\n";
  for (const auto& group : column_groups(several.rows)) {
    std::vector<std::string> header{"Challenge"};
    for (const auto& row : group) header.push_back(submission_link(row, "../"));
    Table table(header);
    for (const auto& column : several.challenges) {
      std::vector<std::string> cells{challenge_link(all, column.first, "../")};
      for (const auto& row : group) cells.push_back(cell_text(all.find(row, column.first)));
      table.row(cells);
    }
    text += table.str() + "\n";
  }
  return text;
}

}  // namespace

std::string render_attempts(const Aggregate& all, Claims& claims,
                            const ReportedSubmission& submission) {
  return finished(page_head(submission.name, "../") + opening(all, claims, submission) +
                  profile_table(submission) + results(all, submission) +
                  single_attempts(all, submission));
}

}  // namespace gauntlet
