// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/report/pages/pages.h"
#include "harness/report/pages/sentences.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

using markdown::Table;

std::string ranks(const Ranked& ranked) {
  if (ranked.best_rank == ranked.worst_rank) return std::to_string(ranked.best_rank);
  return fmt::format("{}–{}", ranked.best_rank, ranked.worst_rank);
}

std::string total(const Record& record) {
  return fmt::format("{}–{}–{}", record.won, record.lost, record.tied);
}

std::string floor_and_ceiling(const Aggregate& all, const std::string& name) {
  const ReportedCell* worst = nullptr;
  const ReportedCell* best = nullptr;
  for (const auto& challenge : all.standard_challenges()) {
    const ReportedCell* cell = all.find(name, challenge);
    if (!cell || !cell->score.score) continue;
    if (!worst || *cell->score.score < *worst->score.score) worst = cell;
    if (!best || *cell->score.score > *best->score.score) best = cell;
  }
  if (!worst) return unicode_signs().absent;
  return grade_text(worst->score, unicode_signs()) + " / " +
         grade_text(best->score, unicode_signs());
}

std::string ranked_table(const Aggregate& all) {
  Table table({"Rank", "Submission", "Mean", "Where it may lie", "Possible ranks",
               "W–L–T, all pairs", "Lowest / highest"},
              2);
  for (const auto& submission : all.submissions)
    if (submission.ranked && submission.ranked->place)
      table.row({ordinal(*submission.ranked->place), submission_link(submission.name, ""),
                 mean_text(all.rubric, submission.mean, unicode_signs()),
                 range_text(submission.ranked->range), ranks(*submission.ranked),
                 total(submission.total), floor_and_ceiling(all, submission.name)});
  return table.empty() ? "Nobody: a rank needs a grade in every challenge.\n" : table.str();
}

std::string why_unranked(const ReportedSubmission& submission) {
  const Ranked& ranked = *submission.ranked;
  if (!submission.mean) return "no grade, or grades on two devices";
  if (submission.mean->graded < submission.mean->of)
    return fmt::format("{} of {} challenges", submission.mean->graded, submission.mean->of);
  return ranked.same_graders ? "" : "some cells were graded by other graders";
}

std::string unranked_table(const Aggregate& all) {
  Table table({"Submission", "Why", "Mean over what was graded", "If the rest were worth 0 … 100",
               "Possible ranks"},
              2);
  for (const auto& submission : all.submissions) {
    if (!submission.ranked || submission.ranked->place) continue;
    const bool known = submission.mean.has_value();
    table.row({submission_link(submission.name, ""), why_unranked(submission),
               mean_text(all.rubric, submission.mean, unicode_signs()),
               known ? range_text(submission.ranked->bounds) : unicode_signs().absent,
               known ? ranks(*submission.ranked) : unicode_signs().absent});
  }
  if (table.empty()) return "";
  return "## Not ranked\n\nNothing is filled in for a missing challenge.\n\n" + table.str() + "\n";
}

}  // namespace

std::string render_ranking(const Aggregate& all, Claims& claims) {
  const auto found = std::find_if(all.submissions.begin(), all.submissions.end(),
                                  [](const auto& one) { return one.ranked.has_value(); });
  std::string page = page_head("Submission ranking", "");
  if (found == all.submissions.end()) return finished(page + "No submission has been graded.\n");
  page += leaders(all, claims, "ranking") + ranked_table(all) + "\n" + unranked_table(all);
  page += fmt::format(
      "Scores are means over all challenges, none weighing more than another. Where a mean may lie "
      "follows from what was measured: every timed case at one end of its 99% interval or the "
      "other, or worth nothing or everything where it was too noisy to count, and a check that "
      "could not be measured passed or failed. Submissions share a rank while their means are "
      "within {} point of the first of their group or these ranges overlap; possible ranks are "
      "those that no other submission's range excludes.\n\n"
      "{}. How far the same model would vary on another "
      "attempt was not measured, and other challenges could order them otherwise.\n",
      points(all.rubric.mean_band), what_is_ranked(all));
  return finished(page);
}

}  // namespace gauntlet
