// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "harness/core/text.h"
#include "harness/report/model/matrix_text.h"
#include "harness/report/pages/pages.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"
#include "harness/score/recount.h"

namespace gauntlet {
namespace {

using markdown::Table;

constexpr std::size_t kWidestMatrix = 7;  // models a table; GitHub scrolls beyond 8 columns

std::string grade_points(double points) {
  return fmt::format("{:.3f}", points);
}

std::string record_text(const Record& record) {
  return fmt::format("{}–{}–{}", record.won, record.lost, record.tied);
}

std::string source(const Judgement& judgement) {
  std::string page =
      fmt::format("Judged: {}. Nothing was executed.\n\n", markdown::text(judgement.judged));
  Table table({"Document", "Title", "Judge", "Date", "Challenges"}, 4);
  for (const auto& document : judgement.documents)
    table.row({document.id, markdown::text(document.title), markdown::text(document.judge),
               markdown::text(document.date), std::to_string(document.challenges.size())});
  return page + table.str() + "\n";
}

/// "A- (2nd=)", and what was said instead where it was not that.
std::string judged_cell(const Recount& recount, const std::string& model,
                        const std::string& challenge) {
  const auto* grade = recount.judgement().find(model, challenge);
  if (!grade) return unicode_signs().absent;
  const Place place = *recount.place(model, challenge);
  std::string cell = fmt::format("{} ({})", grade->letter, ordinal(place));
  const bool shared = grade->place.find("tie") == 0 || grade->place.find('=') != std::string::npos;
  const bool number = grade->number() == 0 || grade->number() == place.number;
  if (!grade->place.empty() && (!number || (shared && !place.shared)))
    cell += fmt::format(", said {}", grade->place);
  return cell;
}

std::string matrix(const Recount& recount) {
  const Judgement& judgement = recount.judgement();
  const auto models = recount.models();
  std::string page = fmt::format(
      "### Letters\n\nThe letters of {}, as published; the places follow from them (equal letters "
      "share one), and where another place was published it stands beside. Means are of grade "
      "points, A 4.0, A- 3.7, B+ 3.3 and so on.\n\n",
      judgement.grades_document);
  for (std::size_t begin = 0; begin < models.size(); begin += kWidestMatrix) {
    const std::size_t end = std::min(begin + kWidestMatrix, models.size());
    std::vector<std::string> header{"Challenge"};
    std::vector<std::string> means{"**Mean** (challenges)"};
    std::vector<std::string> ranks{"**Rank** of those with all"};
    for (std::size_t i = begin; i < end; ++i) {
      header.push_back(markdown::text(judgement.name_of(models[i])));
      const auto mean = recount.mean(models[i]);
      const auto rank = recount.rank(models[i]);
      means.push_back(
          mean ? fmt::format("{} ({} of {})", grade_points(mean->score), mean->graded, mean->of)
               : unicode_signs().absent);
      ranks.push_back(rank ? ordinal(*rank) : unicode_signs().absent);
    }
    Table table(header);
    for (const auto& challenge : judgement.challenges) {
      std::vector<std::string> row{markdown::text(challenge.name)};
      for (std::size_t i = begin; i < end; ++i)
        row.push_back(judged_cell(recount, models[i], challenge.id));
      table.row(row);
    }
    table.row(means);
    table.row(ranks);
    page += table.str() + "\n";
  }
  return page;
}

std::string records(const Recount& recount) {
  const Judgement& judgement = recount.judgement();
  Table table({"Pair", "Document", "By the winners it names", "By the letters"}, 2);
  for (const auto& pair : judgement.pairs) {
    const Record named = *recount.named_record(pair.document, pair.models);
    const Record letters =
        recount.record(pair.models, judgement.document(pair.document).challenges);
    table.row({fmt::format("{} {} {}", markdown::text(judgement.name_of(pair.models[0])),
                           named.verb(), markdown::text(judgement.name_of(pair.models[1]))),
               pair.document, record_text(named), record_text(letters)});
  }
  if (table.empty()) return "";
  return "### Records, counted again\n\nWon–lost–tied of the first-named; a split counts as tied. "
         "The verb follows from the winners that the document names.\n\n" +
         table.str() + "\n";
}

/// A judged letter beside a measured grade, where there are both.
std::string both(const Aggregate& all, const Judgement& judgement) {
  Table table({"Model", "Challenge", "Judged", "Measured"}, 2);
  for (const auto& grade : judgement.grades)
    if (all.score(grade.model, grade.challenge))
      table.row({submission_link(grade.model, ""),
                 markdown::text(judgement.challenge(grade.challenge).name), grade.letter,
                 matrix_text(all, grade.model, grade.challenge, unicode_signs())});
  return "### Judged and measured\n\n" +
         (table.empty() ? "No submission here bears the name of a judged model yet.\n\n"
                        : table.str() + "\n");
}

std::string statements(const Recount& recount, Truth truth, const std::string& heading) {
  const Judgement& judgement = recount.judgement();
  Table table({"Statement", "The figures say", "Document"}, 3);
  std::size_t count = 0;
  for (const auto& statement : judgement.statements) {
    const Examined examined = examine(recount, statement);
    if (examined.truth != truth) continue;
    ++count;
    table.row(
        {markdown::text(statement.says), markdown::text(examined.figures), statement.document});
  }
  if (count == 0) return "";
  return fmt::format("### {}: {} of {}\n\n{}\n", heading, count, judgement.statements.size(),
                     table.str());
}

std::string denied(const Recount& recount) {
  const Judgement& judgement = recount.judgement();
  Table table({"Pair", "Challenge", "Winner named", "Their letters", "Document"}, 5);
  for (const auto& denied : denied_winners(recount)) {
    std::string winner = denied.winner->margin;
    if (!denied.winner->model.empty())
      winner = judgement.name_of(denied.winner->model) + (winner.empty() ? "" : ", ") + winner;
    table.row({fmt::format("{} and {}", markdown::text(judgement.name_of(denied.pair->models[0])),
                           markdown::text(judgement.name_of(denied.pair->models[1]))),
               markdown::text(judgement.challenge(denied.winner->challenge).name),
               markdown::text(winner), denied.letters, denied.pair->document});
  }
  return table.empty() ? ""
                       : fmt::format(
                             "### Winners that the letters deny\n\nThe letters are those of {}; "
                             "where another "
                             "document names the winner, the two disagree.\n\n{}\n",
                             judgement.grades_document, table.str());
}

std::string score_name(const Judgement& judgement, const Judgement::Score& score) {
  return fmt::format("{}, {}: {:g} and {}", markdown::text(judgement.name_of(score.model)),
                     markdown::text(judgement.challenge(score.challenge).name), score.overall,
                     judgement.find(score.model, score.challenge)->letter);
}

std::string scores(const Judgement& judgement) {
  if (judgement.scores.empty()) return "";
  Table overall({"Model", "Challenge", "Overall", "Mean of its dimensions", "Difference"}, 2);
  for (const auto& score : judgement.scores) {
    double sum = 0;
    for (const auto& [name, value] : score.dimensions) sum += value;
    const double mean = sum / static_cast<double>(score.dimensions.size());
    overall.row({markdown::text(judgement.name_of(score.model)),
                 markdown::text(judgement.challenge(score.challenge).name),
                 fmt::format("{:g}", score.overall), fmt::format("{:.1f}", mean),
                 fmt::format("{:+.1f}", score.overall - mean)});
  }
  std::string page = "### Scores beside their dimensions\n\n" + overall.str() + "\n";
  Table inverted({"The lower or equal score", "has a better letter than"}, 2);
  for (const auto& pair : inversions(judgement))
    inverted.row({score_name(judgement, *pair.lower), score_name(judgement, *pair.higher)});
  if (inverted.empty()) return page;
  return page +
         "No function from scores to letters gives both of these; they come from different "
         "passes of judging.\n\n" +
         inverted.str() + "\n";
}

}  // namespace

std::string render_judged(const std::map<std::string, Judgement>& judgements,
                          const Aggregate& all) {
  std::string page =
      page_head("Judged, not measured", "") +
      "Grades that others "
      "gave by reading solutions, as they published them. They enter no measured "
      "grade, mean, place or record of this report. What follows from the letters "
      "is computed here, and compared with what was said beside them; the letter of a "
      "round or of an average is read as the one nearest to the mean.\n\n";
  for (const auto& [name, judgement] : judgements) {
    const Recount recount(judgement);
    page +=
        fmt::format("## {}\n\nFrom `judged/{}.yaml`. ", markdown::text(judgement.title), name) +
        source(judgement) + matrix(recount) + both(all, judgement) + records(recount) +
        statements(recount, Truth::contradicted, "Statements that their own figures contradict") +
        denied(recount) + scores(judgement) +
        statements(recount, Truth::cannot_tell, "Statements that the figures cannot decide") +
        statements(recount, Truth::holds, "Statements that the figures bear out");
  }
  return finished(page);
}

}  // namespace gauntlet
