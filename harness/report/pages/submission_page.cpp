// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/model/plot_path.h"
#include "harness/report/model/strengths.h"
#include "harness/report/pages/pages.h"
#include "harness/report/pages/stated_claims.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

using markdown::Table;

std::string model_card_table(const ReportedSubmission& submission) {
  if (!submission.card) return "";
  Table table({"Model card", ""}, 2);
  for (const auto& [key, value] : submission.card->entries())
    table.row({markdown::text(key), markdown::text(value)});
  return table.str() + "\n";
}

std::string verdict_line(const ReportedCell& cell) {
  const CellScore& score = cell.score;
  std::string line = fmt::format("**{}**", cell_text(&cell));
  if (score.capped()) line += fmt::format(". Capped: {}", markdown::text(cap_text(score)));
  if (score.open()) line += fmt::format(". Score {}", ends_text(score.ends()));
  if (score.partial())
    line +=
        fmt::format(". Partial, not measured: {}", markdown::text(sentence_list(score.reasons)));
  if (score.unproven) line += fmt::format(". Not proven: {}", kUnproven);
  return line + ".\n\n";
}

/// Checks of one section that found the same in cases of one name, each named with its severity.
/// What a check detects stands on the challenge's page.
std::string finding_item(const std::vector<const CheckObservation*>& checks) {
  const CheckObservation& first = *checks.front();
  std::vector<std::string> names;
  for (const CheckObservation* check : checks)
    names.push_back(
        fmt::format("**{}** ({})", markdown::code(check->info.id), name_of(check->info.severity)));
  const Finding& finding = *first.finding;
  const std::string of_case =
      finding.case_name.empty() ? "" : ", case " + markdown::code(finding.case_name);
  return fmt::format("- {} {}{}: {}\n", sentence_list(names), name_of(first.verdict), of_case,
                     markdown::code(finding.summary));
}

/// Those of a section, in the order of the checks that found each first.
std::string findings_of(const ReportedCell& cell, Section section) {
  std::vector<std::vector<const CheckObservation*>> found;
  for (const auto& check : cell.checks) {
    if (!check.seen.finding || check.seen.info.section != section) continue;
    const auto same = std::ranges::find_if(found, [&](const auto& checks) {
      return checks.front()->verdict == check.seen.verdict &&
             checks.front()->finding->case_name == check.seen.finding->case_name &&
             checks.front()->finding->summary == check.seen.finding->summary;
    });
    if (same == found.end())
      found.push_back({&check.seen});
    else
      same->push_back(&check.seen);
  }
  std::string list;
  for (const auto& checks : found) list += finding_item(checks);
  return list.empty() ? "" : fmt::format("In {}:\n\n{}\n", name_of(section), list);
}

std::string findings(const ReportedCell& cell) {
  std::string list;
  for (const Section section : kAllSections) list += findings_of(cell, section);
  if (!cell.build.ok && !cell.build.messages.empty())
    list += "The compiler said:\n\n" +
            markdown::block(printable(cell.build.messages, kEvidenceBytes)) + "\n";
  return list.empty() ? "Every check passed.\n\n" : "### Findings\n\n" + list;
}

/// The pairs that a submission belongs to.
using Pairs = std::vector<const ReportedPair*>;

Pairs pairs_of(const Aggregate& all, const std::string& submission) {
  Pairs pairs;
  for (const auto& pair : all.pairs)
    if (pair.first == submission || pair.second == submission) pairs.push_back(&pair);
  return pairs;
}

/// What it won and lost; what was not comparable is left out.
std::string against_others(const Pairs& pairs, const ReportedCell& cell) {
  std::vector<std::string> results;
  for (const auto* pair : pairs) {
    const bool first = pair->first == cell.submission();
    for (const PairRow& row : pair->rows) {
      if (row.challenge != cell.challenge() || row.verdict.margin == Margin::not_comparable)
        continue;
      const int won = first ? row.verdict.winner : -row.verdict.winner;
      const std::string_view result = won > 0   ? "won against "
                                      : won < 0 ? "lost to "
                                                : "even with ";
      results.push_back(fmt::format("{}{} ({})", result, first ? pair->second : pair->first,
                                    name_of(row.verdict.margin)));
    }
  }
  return results.empty() ? "" : fmt::format("Head to head: {}.\n\n", sentence_list(results));
}

/// What is there to look at: drawings, and texts that a model wrote.
std::string exhibits(const ReportedCell& cell) {
  std::string shown;
  for (const auto& reported : cell.checks) {
    const CheckObservation& check = reported.seen;
    for (std::size_t i = 0; i < check.curves.size(); ++i)
      shown +=
          fmt::format("{} draws {}: {}\n\n", markdown::code(check.info.id),
                      markdown::text(check.curves[i].title), site_file(curve_path(cell, check, i)));
    for (const auto& exhibit : check.exhibits) {
      std::string lines;
      for (const auto& line : exhibit.lines) lines += line + "\n";
      shown += fmt::format("{} shows {}:\n\n{}\n", markdown::code(check.info.id),
                           markdown::text(exhibit.title),
                           markdown::block(printable(lines, kEvidenceBytes)));
    }
  }
  return shown;
}

std::string chapter(const Aggregate& all, Claims& claims, const Pairs& pairs,
                    const ReportedChallenge& column, const ReportedCell& cell) {
  const std::string heading =
      fmt::format("## {} ({}, round {})\n\n", challenge_link(all, column.name, "../"),
                  markdown::text(column.about.difficulty), column.about.round);
  return heading + verdict_line(cell) + against_others(pairs, cell) + findings(cell) +
         stated_claims_of(claims, cell) + exhibits(cell);
}

/// The scores of all sections of all its cells.
std::string score_table(const Aggregate& all, const std::string& submission) {
  std::vector<std::string> header{"Challenge", "Grade"};
  for (const Section section : kAllSections)
    header.push_back(
        fmt::format("{} ({})", name_of(section), points(all.rubric.weight_of(section))));
  Table table(header);
  for (const auto& column : all.challenges) {
    const ReportedCell* cell = all.find(submission, column.name);
    if (!cell || cell->score.sections.empty()) continue;
    std::vector<std::string> row{markdown::text(column.name), cell_text(cell)};
    for (const Section section : kAllSections) row.push_back(section_text(cell->score, section));
    table.row(row);
  }
  return table.empty() ? "" : table.str() + "\n";
}

std::string bullets(const std::string& title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string text = fmt::format("**{}**\n\n", title);
  for (const auto& sentence : sentences) text += "- " + sentence + "\n";
  return text + "\n";
}

/// Mean and rank, then what is good and bad about it.
std::string portrait(const Aggregate& all, Claims& claims, const ReportedSubmission& submission) {
  if (submission.is_reference() || !submission.ranked) return "";
  std::string text =
      fmt::format("Mean {}", mean_text(all.rubric, submission.mean, unicode_signs()));
  if (submission.ranked->place)
    text += fmt::format(", [rank](../ranking.md) {}", ordinal(*submission.ranked->place));
  text += ".\n\n";
  text += trajectory_sentence(claims, submission, "submission") + "\n\n";
  text += bullets("Strengths", strengths(all, claims, submission));
  return text + bullets("Weaknesses", weaknesses(all, claims, submission));
}

}  // namespace

std::string profile_table(const ReportedSubmission& submission) {
  if (submission.is_reference()) return "";
  Table table({"Section", "Mean", "Challenges", "Mean of the others", "Standard deviations"});
  for (const SectionProfile& profile : submission.sections)
    table.row(
        {std::string(name_of(profile.section)), ends_text(profile.mean),
         std::to_string(profile.challenges),
         profile.others ? ends_text(*profile.others) : unicode_signs().absent,
         profile.deviation ? fmt::format("{:.1f}", *profile.deviation) : unicode_signs().absent});
  return table.empty() ? "" : table.str() + "\n";
}

std::string render_submission(const Aggregate& all, Claims& claims,
                              const ReportedSubmission& submission) {
  std::string page = page_head(submission.name, "../") + portrait(all, claims, submission) +
                     score_table(all, submission.name) + profile_table(submission) +
                     model_card_table(submission) +
                     fmt::format(
                         "Speeds stand side by side on the challenges' pages. What else was "
                         "measured, and, where it was graded, the evidence of a finding: {}.\n\n",
                         markdown::code(show_command(submission.name, "CHALLENGE", "CHECK")));
  const Pairs pairs = pairs_of(all, submission.name);
  std::vector<std::string> not_handed_in;
  for (const auto& column : all.challenges) {
    if (const ReportedCell* cell = all.find(submission.name, column.name))
      page += chapter(all, claims, pairs, column, *cell);
    else if (column.standard)
      not_handed_in.push_back(challenge_link(all, column.name, "../"));
  }
  if (!not_handed_in.empty())
    page += fmt::format("Did not take part in {}.\n\n", sentence_list(not_handed_in));
  return finished(page);
}

}  // namespace gauntlet
