// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "harness/report/model/matrix_text.h"
#include "harness/report/model/plot_path.h"
#include "harness/report/model/strengths.h"
#include "harness/report/pages/pages.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

using markdown::Table;

std::vector<std::string> challenges_of(const Aggregate& all, int round) {
  std::vector<std::string> names;
  for (const auto& column : all.challenges)
    if (column.standard && column.about.round == round) names.push_back(column.name);
  return names;
}

std::string round_mean(const ReportedSubmission& submission, int round) {
  for (const RoundScore& score : submission.rounds)
    if (score.round == round && score.mean)
      return fmt::format("{} ({} of {})", ends_text(*score.mean), score.graded, score.of);
  return unicode_signs().absent;
}

std::string scoreboard(const Aggregate& all, int round) {
  std::string text = fmt::format("## Round {}\n\n", round);
  const auto groups = column_groups(challenges_of(all, round));
  for (const auto& group : groups) {
    std::vector<std::string> header{"Submission"};
    for (const auto& name : group) header.push_back(challenge_link(all, name, ""));
    const bool last = &group == &groups.back();
    if (last) header.push_back("Mean of the round");
    Table table(header);
    for (const auto& submission : all.submissions) {
      std::vector<std::string> row{matrix_name(all, submission.name, "")};
      for (const auto& name : group)
        row.push_back(matrix_text(all, submission.name, name, unicode_signs()));
      if (last) row.push_back(round_mean(submission, round));
      table.row(row);
    }
    text += table.str() + "\n";
  }
  return text;
}

/// Who is first in each challenge, how far before the second, and in how many words.
std::string leads(const Aggregate& all, int round) {
  Table table({"Challenge", "First", "Second", "Lead", "Margin"}, 3);
  for (const auto& name : challenges_of(all, round)) {
    std::vector<std::pair<std::string, CellScore>> placed;
    for (const auto& submission : all.submissions)
      if (const auto cell = all.score(submission.name, name); cell && cell->placement)
        placed.emplace_back(submission.name, cell->score);
    std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) {
      return std::tuple(-*a.second.score, a.first) < std::tuple(-*b.second.score, b.first);
    });
    if (placed.size() < 2) continue;
    const PairVerdict verdict = compare(all.rubric, &placed[0].second, &placed[1].second);
    table.row({challenge_link(all, name, ""), placed[0].first, placed[1].first,
               verdict.margin == Margin::not_comparable ? unicode_signs().absent
                                                        : signed_points(verdict.difference),
               std::string(name_of(verdict.margin))});
  }
  return table.empty() ? "" : table.str() + "\n";
}

std::string trajectories(const Aggregate& all, Claims& claims) {
  std::string list;
  for (const auto& submission : all.submissions)
    if (!submission.is_reference() && submission.mean)
      list += fmt::format("- {}: {}\n", submission_link(submission.name, ""),
                          trajectory_sentence(claims, submission, "rounds"));
  return "## From round to round\n\nRounds are different challenges: a fall can mean a harder "
         "round. Rising and falling need three rounds, no step against the direction beyond the "
         "tie band, and an end beyond it, whatever is missing.\n\n" +
         list;
}

}  // namespace

std::string render_rounds(const Aggregate& all, Claims& claims, const Files& plots) {
  std::set<int> rounds;
  for (const auto& column : all.challenges)
    if (column.standard) rounds.insert(column.about.round);
  std::string page = page_head("Round by round", "");
  for (const int round : rounds) page += scoreboard(all, round) + leads(all, round);
  page += trajectories(all, claims) + picture(plots, kTrajectoryPlot, "Mean score by round", "");
  return finished(page);
}

}  // namespace gauntlet
