#include <fmt/format.h>

#include "harness/core/entry.h"
#include "harness/core/text.h"
#include "harness/report/markdown.h"
#include "harness/report/phrases.h"
#include "harness/report/report.h"

namespace gauntlet {
namespace {

using markdown::Table;

constexpr std::size_t kEvidenceBytes = 4000;  // of one finding, on the page

std::string papers_table(const ReportInput& input, const std::string& submission) {
  const auto found = input.papers.find(submission);
  if (found == input.papers.end()) return "";
  Table table({"Papers", ""}, 2);
  for (const auto& [key, value] : found->second.entries())
    table.row({markdown::text(key), markdown::text(value)});
  return table.str() + "\n";
}

std::string verdict_line(const ReportInput& input, const BoardCell& cell) {
  const CellScore& score = cell.score;
  std::string line = fmt::format("**{}**", cell_text(input.rubric, &cell, unicode_signs()));
  if (score.capped()) line += fmt::format(". Capped: {}", markdown::text(cap_text(score)));
  if (score.partial())
    line += fmt::format(". Partial, not measured: {}",
                        markdown::text(sentence_list(score.not_measured)));
  return line + ".\n\n";
}

std::string section_table(const Rubric& rubric, const CellScore& score) {
  Table table({"Section", "Weight", "Score", "Checks measured"});
  for (const auto& section : score.sections)
    table.row({std::string(name_of(section.section)), points(rubric.weight_of(section.section)),
               section.score ? points(*section.score) : unicode_signs().unmeasured,
               fmt::format("{} of {}", section.measured, section.total)});
  return table.empty() ? "" : table.str() + "\n";
}

std::string finding_item(const CellObservation& cell, const CheckObservation& check) {
  const Finding& finding = *check.finding;
  std::string item =
      fmt::format("- **{}** {} ({}, {}), hunts {}\n  - {}\n", markdown::code(check.info.id),
                  name_of(check.verdict), name_of(check.info.section), name_of(check.info.severity),
                  markdown::code(check.info.attacks), markdown::code(finding.summary));
  if (!finding.case_name.empty())
    item += fmt::format("  - case {}\n", markdown::code(finding.case_name));
  item += fmt::format("  - {}\n", markdown::code(show_command(cell, check.info.id)));
  std::string evidence;
  for (const auto& line : finding.evidence) evidence += line + "\n";
  if (!evidence.empty()) item += "\n" + markdown::block(printable(evidence, kEvidenceBytes), "  ");
  return item;
}

std::string findings(const CellObservation& cell) {
  std::string list;
  for (const auto& check : cell.checks)
    if (check.finding) list += finding_item(cell, check);
  if (!cell.build.ok && !cell.build.messages.empty())
    list +=
        "The compiler said:\n\n" + markdown::block(printable(cell.build.messages, kEvidenceBytes));
  if (list.empty()) return "Every check passed.\n\n";
  return "### Findings\n\n" + list + "\n";
}

/// "Against the others: alpha lost (Moderate), delta tie."; what was not comparable is left out.
std::string against_others(const Board& board, const std::string& submission,
                           const std::string& challenge) {
  if (submission == kReferenceName) return "";
  std::vector<std::string> results;
  for (const auto& other : board.submissions()) {
    if (other == submission || other == kReferenceName) continue;
    const PairVerdict verdict = board.compare(submission, other, challenge);
    if (verdict.margin == Margin::not_comparable) continue;
    const std::string_view result = verdict.winner > 0   ? "won against "
                                    : verdict.winner < 0 ? "lost to "
                                                         : "even with ";
    results.push_back(fmt::format("{}{} ({})", result, other, name_of(verdict.margin)));
  }
  return results.empty() ? "" : fmt::format("Head to head: {}.\n\n", sentence_list(results));
}

std::string share(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}%", *value * 100) : unicode_signs().absent;
}

std::string speed_table(const Rubric& rubric, const CellObservation& cell) {
  Table table({"Timed case", "Times the reference, 95%", "Verdict", "Reference against itself, 95%",
               "Time (µs)", "Of the ceiling", "Reference", "Rounds"});
  for (const auto& check : cell.checks)
    for (const auto& speed : check.speeds)
      table.row({markdown::text(speed.case_name),
                 fmt::format("{:.2f}x ({:.2f}–{:.2f})", speed.ratio, speed.low, speed.high),
                 std::string(rubric.speed_verdict(speed)),
                 fmt::format("{:.2f}–{:.2f}", speed.noise_low, speed.noise_high),
                 fmt::format("{:.1f}", speed.solution_ns / 1000), share(speed.ceiling_share),
                 share(speed.reference_ceiling_share), std::to_string(speed.rounds)});
  if (table.empty()) return "";
  const Provenance& from = cell.provenance;
  return fmt::format(
      "### Speed\n\nMore than 1x is faster than the reference; fastest laps, timed in the same run "
      "on {}, {} cores; ceilings {:.1f} GB/s copied, {:.0f} GFLOP/s.\n\n{}\n",
      markdown::text(from.cpu), from.cores, from.copy_gb_per_s, from.fma_gflop_per_s, table.str());
}

std::string fact_table(const CellObservation& cell) {
  Table table({"Measured", "Value", "Check"});
  for (const auto& check : cell.checks)
    for (const auto& fact : check.facts)
      table.row({markdown::text(fact.name),
                 markdown::text(fmt::format("{:.6g} {}", fact.value, fact.unit)),
                 markdown::text(check.info.id)});
  return table.empty() ? "" : table.str() + "\n";
}

/// What is there to look at: drawings, and texts that a model wrote.
std::string exhibits(const CellObservation& cell) {
  std::string shown;
  for (const auto& check : cell.checks) {
    for (std::size_t i = 0; i < check.curves.size(); ++i)
      shown += fmt::format("![{}](../{})\n\n", markdown::text(check.curves[i].title),
                           plot_path(cell, check, i));
    for (const auto& exhibit : check.exhibits) {
      std::string lines;
      for (const auto& line : exhibit.lines) lines += line + "\n";
      shown += fmt::format("{}:\n\n{}\n", markdown::text(exhibit.title),
                           markdown::block(printable(lines, kEvidenceBytes)));
    }
  }
  return shown;
}

const CellObservation* find_cell(const ReportInput& input, const std::string& submission,
                                 const std::string& challenge) {
  for (const auto& cell : input.cells)
    if (cell.submission == submission && cell.challenge == challenge) return &cell;
  return nullptr;
}

std::string heading(const ReportInput& input, const std::string& name) {
  const Entry entry = Entry::named(name);
  const std::string size = entry.is_standard() ? "" : fmt::format(", size {}", entry.size);
  for (const auto& challenge : input.challenges)
    if (challenge.id == entry.challenge)
      return fmt::format("## {} ({}, round {}{})\n\n", markdown::text(challenge.title),
                         markdown::text(challenge.difficulty), challenge.round,
                         markdown::text(size));
  return fmt::format("## {}\n\n", markdown::text(name));
}

std::string chapter(const ReportInput& input, const Board& board, const std::string& submission,
                    const std::string& name) {
  const CellObservation* cell = find_cell(input, submission, name);
  if (!cell) return heading(input, name) + "Did not take part.\n\n";
  const BoardCell& scored = *board.find(submission, name);
  return heading(input, name) + verdict_line(input, scored) +
         against_others(board, submission, name) + section_table(input.rubric, scored.score) +
         findings(*cell) + speed_table(input.rubric, *cell) + fact_table(*cell) + exhibits(*cell);
}

}  // namespace

std::string render_submission(const ReportInput& input, const Board& board,
                              const std::string& submission) {
  std::string page = fmt::format("{}# {}\n\n[All results](../README.md)\n\n", kGeneratedMark,
                                 markdown::text(submission));
  page += papers_table(input, submission);
  for (const auto& id : board.challenges()) page += chapter(input, board, submission, id);
  for (const auto& name : board.other_sizes())
    if (find_cell(input, submission, name)) page += chapter(input, board, submission, name);
  while (page.size() > 1 && page.substr(page.size() - 2) == "\n\n") page.pop_back();
  return page;
}

}  // namespace gauntlet
