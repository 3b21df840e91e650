// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/report/model/matrix_text.h"
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
  std::optional<BoardCell> worst;
  std::optional<BoardCell> best;
  for (const auto& challenge : all.standard_challenges()) {
    const auto cell = all.score(name, challenge);
    if (!cell || !cell->score.score) continue;
    if (!worst || *cell->score.score < *worst->score.score) worst = cell;
    if (!best || *cell->score.score > *best->score.score) best = cell;
  }
  if (!worst) return unicode_signs().absent;
  return grade_text(worst->score, unicode_signs()) + " / " +
         grade_text(best->score, unicode_signs());
}

/// Behind whom, by how much, and where resampling puts that.
std::string behind(const Ranked& ranked) {
  if (!ranked.place->behind) return unicode_signs().absent;
  const Behind& one = *ranked.place->behind;
  return fmt::format("{} by {:.1f} ({:.1f} to {:.1f})", ranked.ahead, one.points, one.interval.low,
                     one.interval.high);
}

std::string ranked_table(const Aggregate& all) {
  Table table({"Rank", "Submission", "Mean", "Behind", "Where it may lie", "Possible ranks",
               "W–L–T, all pairs", "Lowest / highest"},
              2);
  for (const auto& submission : all.submissions)
    if (submission.ranked && submission.ranked->place)
      table.row({ordinal(*submission.ranked->place), matrix_name(all, submission.name, ""),
                 matrix_mean(all, submission, unicode_signs()), behind(*submission.ranked),
                 range_text(submission.ranked->range), ranks(*submission.ranked),
                 total(submission.total), floor_and_ceiling(all, submission.name)});
  return table.empty() ? "Nobody: a rank needs a grade in every challenge.\n" : table.str();
}

std::string why_unranked(const ReportedSubmission& submission) {
  const Ranked& ranked = *submission.ranked;
  if (!submission.mean) return "no grade, or grades on two devices";
  if (submission.mean->graded < submission.mean->of)
    return fmt::format("{} of {} challenges", submission.mean->graded, submission.mean->of);
  if (!ranked.all_attempts) return "not every attempt was graded in every challenge";
  return ranked.same_graders ? "" : "some cells were graded by other graders";
}

std::string unranked_table(const Aggregate& all) {
  Table table({"Submission", "Why", "Mean over what was graded", "If the rest were worth 0 … 100",
               "Possible ranks"},
              2);
  for (const auto& submission : all.submissions) {
    if (!submission.ranked || submission.ranked->place) continue;
    const bool known = submission.mean.has_value();
    table.row({matrix_name(all, submission.name, ""), why_unranked(submission),
               matrix_mean(all, submission, unicode_signs()),
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
      "within {} point of the first of their group, these ranges overlap, or the data do not "
      "support the difference: Behind is how far a mean lies behind that of the first of its "
      "group, or of the group before, and where {:.0f}% of {} resamples put that, each of which "
      "draws challenges, the same for both, and one attempt in each of them. Possible ranks are "
      "those that no other submission's range excludes.\n\n{} {}\n",
      points(all.rubric.mean_band), all.rubric.confidence * 100, all.rubric.resamples,
      what_is_ranked(all), what_data_cannot_tell(all));
  return finished(page);
}

}  // namespace gauntlet
