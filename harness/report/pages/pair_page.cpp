// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>

#include "harness/report/model/criteria.h"
#include "harness/report/model/matrix_text.h"
#include "harness/report/pages/pages.h"
#include "harness/report/pages/sentences.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

using markdown::Table;

std::string winner_of(const ReportedPair& pair, const PairRow& row) {
  if (row.verdict.winner == 0) return unicode_signs().absent;
  return row.verdict.winner > 0 ? pair.first : pair.second;
}

std::string overview(const Aggregate& all, const ReportedPair& pair) {
  Table table({"Challenge", pair.first, pair.second, "Difference", "Winner", "Margin",
               "Checks for each, for neither"});
  for (const PairRow& row : pair.rows)
    table.row({challenge_link(all, row.challenge, "../"),
               matrix_text(all, pair.first, row.challenge, unicode_signs()),
               matrix_text(all, pair.second, row.challenge, unicode_signs()),
               row.difference ? signed_points(*row.difference) : unicode_signs().absent,
               winner_of(pair, row), std::string(name_of(row.verdict.margin)),
               fmt::format("{} : {}, {}", row.edges_first, row.edges_second, row.edges_none)});
  return table.str() + "\n";
}

std::string bold(const ReportedPair& pair, int side) {
  return side == 0 ? "" : fmt::format("**{}**", side > 0 ? pair.first : pair.second);
}

/// A row with cells: the submission's, or that of its first attempt.
std::string attempt_in(const Aggregate& all, const std::string& submission) {
  const SubmissionAttempts* several = all.attempts_of(submission);
  return several ? several->rows.front() : submission;
}

std::string chapter(const Aggregate& all, const ReportedPair& pair, const PairRow& row) {
  const ReportedCell* a = all.find(pair.first, row.challenge);
  const ReportedCell* b = all.find(pair.second, row.challenge);
  const std::string title = markdown::text(all.challenge(row.challenge).about.title);
  const bool first = all.score(pair.first, row.challenge).has_value();
  const bool second = all.score(pair.second, row.challenge).has_value();
  if (!first || !second)
    return fmt::format("## {}\n\n{} did not take part.\n\n", title,
                       !first && !second ? "Both"
                       : !first          ? pair.first
                                         : pair.second);
  const std::string result = row.verdict.winner == 0 ? std::string(name_of(row.verdict.margin))
                                                     : fmt::format("{}, {}", winner_of(pair, row),
                                                                   name_of(row.verdict.margin));
  if (!a || !b)
    return fmt::format(
        "## {}: {}\n\nSeveral attempts are compared by their means; check by check, single ones "
        "are: {}.\n\n",
        title, result,
        markdown::code(fmt::format("./gauntlet compare {} {} -c {}", attempt_in(all, pair.first),
                                   attempt_in(all, pair.second), row.challenge)));
  Table table({"Criterion", pair.first, pair.second, "Edge"}, 4);
  for (const Criterion& one : criteria(all, pair, row.challenge))
    table.row({markdown::text(one.name) + (one.critical ? " (critical)" : ""),
               markdown::text(one.first), markdown::text(one.second), bold(pair, one.edge)});
  std::string text = fmt::format("## {}: {}\n\n", title, result);
  if (row.verdict.margin == Margin::not_comparable)
    text += "Not comparable: they were not graded on the same questions and device.\n\n";
  if (!table.empty()) text += table.str() + "\n";
  return text + fmt::format("{} further checks tell no difference.\n\n", row.edges_none);
}

std::string mean_sentence(Claims& claims, const ReportedPair& pair) {
  if (!pair.mean_difference) return "";
  const double points = *pair.mean_difference;
  const int shared = pair.record.won + pair.record.lost + pair.record.tied;
  const std::string sentence = fmt::format(
      "Over the {} comparable challenges {} scores {:.1f} points {} than {} on average.", shared,
      pair.first, std::abs(points), points < 0 ? "less" : "more", pair.second);
  return claims.say(fmt::format("mean_difference/{}/{}", pair.first, pair.second), sentence,
                    predicate::record(claims.at(pair))) +
         "\n\n";
}

}  // namespace

std::string render_pairs(const Aggregate& all, Claims&) {
  if (all.pairs_not_listed > 0)
    return finished(page_head("Head to head", "../") +
                    fmt::format("There are too many pairs to list, {}: `./gauntlet compare A B -c "
                                "CHALLENGE` shows any of them, and [the ranking](../ranking.md) "
                                "what each submission won and lost.\n",
                                all.pairs_not_listed));
  if (all.pairs.empty())
    return finished(page_head("Head to head", "../") + "It takes two submissions.\n");
  return finished(page_head("Head to head", "../") +
                  "From the side of the first-named; a challenge counts as n/a unless both were "
                  "graded on the same questions and device.\n\n" +
                  pair_table(all, true));
}

std::string render_pair(const Aggregate& all, Claims& claims, const ReportedPair& pair) {
  std::string page = page_head(fmt::format("{} vs {}", pair.first, pair.second), "../");
  page += "**" + record_sentence(claims, pair) + "**\n\n" + mean_sentence(claims, pair);
  page += fmt::format("Profiles: {}, {}. Run under conditions: {}.\n\n",
                      submission_link(pair.first, "../"), submission_link(pair.second, "../"),
                      conditions_text(pair));
  page += overview(all, pair);
  page += fmt::format(
      "Scores nearer than {} points are a tie; margins are Narrow below {}, Moderate below {}, "
      "else "
      "Decisive. Whoever failed a critical check does not win against one who did not: that is a "
      "Split. A timed case has an edge when the 99% intervals are apart by more than a factor of "
      "{:g}.\n\n",
      points(all.rubric.tie_band), points(all.rubric.narrow_below),
      points(all.rubric.moderate_below), all.rubric.equal_within);
  for (const PairRow& row : pair.rows) page += chapter(all, pair, row);
  return finished(page);
}

}  // namespace gauntlet
