// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "harness/core/text.h"
#include "harness/report/model/matrix_text.h"
#include "harness/report/model/plot_path.h"
#include "harness/report/pages/pages.h"
#include "harness/report/pages/sentences.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"
#include "harness/score/machine_kind.h"

namespace gauntlet {
namespace {

using markdown::Table;

constexpr std::size_t kShownDifferentiators = 3;
constexpr std::size_t kShownPairs = 15;

std::string matrix(const Aggregate& all, const std::vector<ReportedSubmission>& submissions) {
  std::string page;
  const auto groups = column_groups(all.standard_challenges());
  for (const auto& group : groups) {
    const bool last = &group == &groups.back();
    std::vector<std::string> header{"Submission"};
    for (const auto& name : group) header.push_back(challenge_link(all, name, ""));
    if (last) header.push_back("Mean");
    Table table(header);
    for (const auto& submission : submissions) {
      std::vector<std::string> row{matrix_name(all, submission.name, "")};
      for (const auto& name : group)
        row.push_back(matrix_text(all, submission.name, name, unicode_signs()));
      if (last) row.push_back(matrix_mean(all, submission, unicode_signs()));
      table.row(row);
    }
    page += table.str() + "\n";
  }
  return page;
}

/// Cells at other sizes, in a table of their own.
std::string other_sizes(const Aggregate& all) {
  Table table({"Submission", "At another size", "Grade"}, 2);
  for (const auto& submission : all.submissions)
    for (const auto& column : all.challenges)
      if (!column.standard && all.score(submission.name, column.name))
        table.row({matrix_name(all, submission.name, ""), challenge_link(all, column.name, ""),
                   matrix_text(all, submission.name, column.name, unicode_signs())});
  return table.empty() ? "" : table.str() + "\n";
}

/// The single ones, where a submission made several.
std::string attempts(const Aggregate& all) {
  if (all.single.empty()) return "";
  return fmt::format(
      "## Single attempts\n\nThey take no places. {} How often they do stands on the pages of "
      "their submissions.\n\n{}",
      what_passes(all), matrix(all, all.single));
}

std::string footnote(const ReportedCell& cell, const Signs& signs) {
  const CellScore& score = cell.score;
  std::string notes;
  const std::string where = fmt::format("{} in {}: ", cell.row, cell.column);
  if (score.capped())
    notes += fmt::format("- {} {}{}\n", signs.capped, where, markdown::text(cap_text(score)));
  if (score.partial())
    notes +=
        fmt::format("- {} {}{}not measured: {}{}\n", signs.partial, where,
                    score.open() ? ends_text(score.ends()) + " points, " : "",
                    markdown::text(sentence_list(score.reasons)),
                    score.broken > 0 ? fmt::format("; {} of them through a fault of the grader's; "
                                                   "grade it again",
                                                   score.broken)
                                     : "");
  if (score.unproven) notes += fmt::format("- {} {}{}\n", signs.unproven, where, kUnproven);
  return notes;
}

std::string footnotes(const Aggregate& all) {
  std::string notes;
  for (const auto& cell : all.cells) notes += footnote(cell, unicode_signs());
  if (!notes.empty())
    notes = "<details><summary>Caps and missing measurements</summary>\n\n" + notes +
            "\n</details>\n\n";
  return notes +
         fmt::format(
             "{} capped. {} partial: {} {} did not take part. n/m: not measurable on the machine "
             "that "
             "graded. Solutions ran on the CPU unless the row names a device. Places compare cells "
             "of one challenge on the same device by the low ends of their scores; = shares a "
             "place "
             "with the first of its group, within {} points, or with one of whom something is "
             "missing; 2nd..1st: the place that the low end gives, and the best that the missing "
             "part leaves possible. The reference takes no place.{}\n\n",
             unicode_signs().capped, unicode_signs().partial, kPartial, unicode_signs().absent,
             points(all.rubric.tie_band),
             all.attempts.empty() ? "" : fmt::format(" lowest–best#number: {}", kSpread));
}

std::string ranking(const Aggregate& all, Claims& claims) {
  return "## Ranking\n\n" + leaders(all, claims, "index") + what_is_ranked(all) +
         " [Ranking, ranges and missing data](ranking.md). [Round by round](rounds.md).\n\n";
}

std::string head_to_head(const Aggregate& all) {
  if (all.pairs.empty() && all.pairs_not_listed == 0) return "";
  const std::string rest =
      fmt::format("Check by check: `./gauntlet compare A B -c CHALLENGE`, or all pairs in {}.\n\n",
                  site_file("pairs/README.md"));
  if (all.pairs_not_listed > 0)
    return fmt::format(
        "## Head to head\n\nCheck by check: `./gauntlet compare A B -c CHALLENGE`; there are {} "
        "pairs, too many to list.\n\n",
        all.pairs_not_listed);
  if (all.pairs.size() > kShownPairs) return "## Head to head\n\n" + rest;
  return "## Head to head\n\n" + pair_table(all, false) + "\n" + rest;
}

std::string differentiators(const Aggregate& all, Claims& claims) {
  const auto& found = all.survey.differentiators;
  if (found.empty()) return "";
  std::string list;
  for (std::size_t i = 0; i < found.size() && i < kShownDifferentiators; ++i)
    list += "- " + differentiator_sentence(claims, found[i], "index") + "\n";
  return fmt::format(
      "## What tells the submissions apart\n\n{}\n[All checks that do](differentiators.md)\n\n",
      list);
}

std::string picks(const Aggregate& all, Claims& claims) {
  std::string list;
  for (const Pick& pick : all.picks) list += "- " + pick_sentence(claims, pick, "index") + "\n";
  return list.empty()
             ? ""
             : fmt::format("## Which for which need\n\n{}\n[The reasons](picks.md)\n\n", list);
}

std::string method(const Aggregate& all) {
  const Rubric& rubric = all.rubric;
  std::string sections;
  for (const Section section : kAllSections)
    sections += fmt::format("{}{} {}", sections.empty() ? "" : ", ", name_of(section),
                            points(rubric.weight_of(section)));
  std::string letters;
  for (const auto& band : rubric.letters)
    letters += fmt::format("{}{} from {}", letters.empty() ? "" : ", ", band.letter,
                           points(band.at_least));
  return fmt::format(
      "## How grades are made\n\n"
      "Every number here follows from executed checks by `harness/score/rubric.yaml`; none was "
      "typed in. A section's score is the weighted mean of its checks; the raw score is the "
      "weighted mean of the sections ({}). What could not be measured counts as failed, and a "
      "range says what it might have been worth. A failed check also caps the score: major {}, "
      "critical {}, fatal {}. Letters: {}. A timed check earns its points by the ratio reference "
      "time / "
      "solution time: all at {:g}, none at {:g}, logarithmic between. {} What was replaced, and "
      "why, "
      "is in the [ledger](ledger.md). Every number on these pages stands in {}, every "
      "sentence that claims something in {}, with a predicate that a test judges again; "
      "`./gauntlet report` writes them.\n\n",
      sections, points(rubric.cap_of(Severity::major)), points(rubric.cap_of(Severity::critical)),
      points(rubric.cap_of(Severity::fatal)), letters, rubric.full_ratio, rubric.zero_ratio,
      what_is_ranked(all), site_file("aggregate.json"), site_file("claims.json"));
}

bool was_raced(const ReportedCell& cell) {
  return std::any_of(cell.checks.begin(), cell.checks.end(),
                     [](const ReportedCheck& check) { return !check.seen.speeds.empty(); });
}

/// What was graded where, and by which grader; a line for each machine.
std::string provenance(const Aggregate& all) {
  std::map<std::string, std::set<std::string>> machines;  // and the graders that ran on it
  RacedOn raced;
  for (const auto& cell : all.cells) {
    const Provenance& from = cell.provenance;
    if (was_raced(cell)) raced.add(from);
    machines[fmt::format(
                 "Gauntlet {} on {} ({} cores, {}){}, {}, sandbox {}",
                 markdown::text(from.gauntlet_version), markdown::text(from.cpu), from.cores,
                 markdown::text(from.kernel),
                 from.constraint.empty() ? "" : ", nodes with " + markdown::text(from.constraint),
                 markdown::text(cell.build.compiler), markdown::text(from.sandbox))]
        .insert(fmt::format("{} by grader {}", markdown::text(cell.challenge()),
                            markdown::text(from.grader_digest.substr(0, 12))));
  }
  std::string text = fmt::format("## Made from\n\n- rubric {}\n", all.rubric.digest.substr(0, 12));
  for (const auto& [machine, graders] : machines)
    text += fmt::format("- {}: {}\n", machine, fmt::join(graders, ", "));
  if (const std::string mixed = raced.sentence(); !mixed.empty())
    text += "\n" + markdown::text(mixed) + "\n";
  return text;
}

/// The same results in other forms.
std::string elsewhere(const Aggregate& all, const Files& plots) {
  std::string text =
      picture(plots, kMatrixPlot, "Grade matrix", "") +
      fmt::format(
          "To sort and to filter, with every finding behind its grade: {}, one file that works "
          "from disk and is written by `./gauntlet report`.\n\n",
          site_file("index.html"));
  if (all.judged)
    text +=
        "Grades that others gave by reading, without running anything: [judged, not "
        "measured](judged.md).\n\n";
  return text + picture(plots, kCeilingsPlot,
                        "Share of the machine's ceiling that each timed case reaches", "");
}

}  // namespace

std::string render_index(const Aggregate& all, Claims& claims, const Files& plots) {
  std::string page = std::string(kGeneratedMark) + "# Results\n\n";
  if (all.cells.empty())
    page += "No submission has been graded yet.\n\n";
  else
    page += matrix(all, all.submissions) + other_sizes(all) + footnotes(all) + attempts(all) +
            elsewhere(all, plots) + ranking(all, claims) + head_to_head(all) +
            differentiators(all, claims) + picks(all, claims);
  return page + method(all) + provenance(all);
}

}  // namespace gauntlet
