// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/model/criteria.h"
#include "harness/report/model/matrix_text.h"
#include "harness/report/model/plot_path.h"
#include "harness/report/pages/pages.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

using markdown::Table;

std::vector<std::string> takers(const Aggregate& all, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& row : all.rows())
    if (all.find(row, name)) names.push_back(row);
  return names;
}

std::string introduction(const ReportedChallenge& column) {
  std::string text = fmt::format("Difficulty {}, round {}.",
                                 markdown::text(column.about.difficulty), column.about.round);
  if (!column.standard) text += " Graded at another size than the standard one, with own places.";
  if (!column.about.asks.empty()) text += "\n\n> " + markdown::text(column.about.asks);
  return text + "\n\n";
}

std::string scores(const Aggregate& all, const std::string& name) {
  Table table({"Submission", "Grade", "Correctness", "Robustness", "Performance", "Engineering",
               "Where it may lie", "Checks passed"});
  const auto add = [&](const std::string& row, const CellScore& score, std::string passed) {
    std::vector<std::string> cells{matrix_name(all, row, "../"),
                                   matrix_text(all, row, name, unicode_signs())};
    for (const Section section : kAllSections) cells.push_back(section_text(score, section));
    cells.push_back(score.range ? range_text(*score.range) : unicode_signs().absent);
    cells.push_back(std::move(passed));
    table.row(cells);
  };
  for (const ReportedMean& mean : all.means)
    if (mean.column == name)
      add(mean.row, mean.score, pass_text(*all.attempts_of(mean.row)->find(name)));
  for (const auto& row : takers(all, name)) {
    const ReportedCell& cell = *all.find(row, name);
    add(row, cell.score, fmt::format("{} of {}", cell.passed, cell.checks.size()));
  }
  return table.empty() ? "Nobody took part.\n\n" : table.str() + "\n";
}

/// The checks that `wanted` names, submissions side by side.
template <class Wanted>
std::string check_tables(const Aggregate& all, const ReportedChallenge& column,
                         const Wanted& wanted) {
  std::string text;
  for (const auto& group : column_groups(takers(all, column.name))) {
    std::vector<std::string> header{"What it attacks", "Check"};
    for (const auto& submission : group) header.push_back(matrix_name(all, submission, "../"));
    Table table(header, header.size());
    for (const CheckInfo& check : column.checks) {
      if (!wanted(check)) continue;
      std::vector<std::string> row{markdown::text(check.detects), markdown::code(check.id)};
      for (const auto& submission : group)
        row.push_back(outcome_text(all.find(submission, column.name), check.id));
      table.row(row);
    }
    if (!table.empty()) text += table.str() + "\n";
  }
  return text;
}

std::string traps(const Aggregate& all, const ReportedChallenge& column) {
  const std::string table = check_tables(
      all, column, [](const CheckInfo& check) { return check.severity >= Severity::critical; });
  if (table.empty()) return "";
  return fmt::format(
      "## The traps\n\nCritical checks: failing one caps the score at {} and loses against anybody "
      "who fails none.\n\n{}",
      points(all.rubric.cap_of(Severity::critical)), table);
}

std::string other_checks(const Aggregate& all, const ReportedChallenge& column) {
  if (column.checks.empty()) return "";
  const std::string table = check_tables(all, column, [&](const CheckInfo& check) {
    return check.severity < Severity::critical && !column.earned_by_all.contains(check.id);
  });
  return fmt::format(
      "## The other checks\n\n{}Everybody who was asked earned all points of {} of the {} "
      "checks.\n\n",
      table, column.earned_by_all.size(), column.checks.size());
}

/// Who alone of a device passes a check, and what nobody passes, from three submissions on.
std::string told_apart(const Aggregate& all, Claims& claims, const ReportedChallenge& column,
                       Device device) {
  std::string list;
  for (const CheckInfo& check : column.checks) {
    std::vector<std::string> verdicts;
    std::vector<std::string> passing;
    for (const auto& name : contestants(all)) {
      const ReportedCell* cell = all.find(name, column.name);
      if (cell && cell->score.key.device != device) continue;
      const ReportedCheck* seen = cell ? cell->find(check.id) : nullptr;
      if (!seen || !seen->share) continue;
      verdicts.push_back(claims.at(*cell, *seen) + "/verdict");
      if (seen->seen.verdict == Verdict::passed) passing.push_back(name);
    }
    if (verdicts.size() < 3 || passing.size() > 1) continue;
    const std::string who = passing.empty() ? "Nobody" : "Only " + passing.front();
    list +=
        "- " +
        claims.say(
            fmt::format("passes/{}/{}", CellKey{"", column.name, "", device}.entry(), check.id),
            fmt::format("{} of {} passes {}: {}.", who, verdicts.size(), check.id, check.detects),
            predicate::count(verdicts, "passed", passing.size())) +
        "\n";
  }
  return list.empty() ? "" : list + "\n";
}

std::string percent(const std::optional<double>& share) {
  const auto known = ceiling_share(share);
  return known ? fmt::format("{:.0f}%", *known * 100) : unicode_signs().absent;
}

std::string speeds(const Aggregate& all, const std::string& name) {
  Table table({"Timed case", "Submission", "Times the reference, 99%", "Verdict", "Time (µs)",
               "Reference (µs)", "Of the ceiling", "Reference"},
              2);
  for (const CheckInfo& check : all.challenge(name).checks)
    for (const auto& submission : takers(all, name)) {
      const ReportedCheck* seen = all.find(submission, name)->find(check.id);
      if (!seen) continue;
      for (const auto& speed : seen->seen.speeds)
        table.row({markdown::text(speed.case_name), submission, speed_text(speed),
                   std::string(all.rubric.speed_verdict(speed)),
                   fmt::format("{:.1f}", speed.solution_ns / 1000),
                   fmt::format("{:.1f}", speed.reference_ns / 1000), percent(speed.ceiling_share),
                   percent(speed.reference_ceiling_share)});
    }
  if (table.empty()) return "";
  return "## Speed\n\nMedians of pairs of laps, against the reference in the same run; more than "
         "1x is "
         "faster.\n\n" +
         table.str() + "\n";
}

/// Whether all that was graded was graded by what the audit looked at.
bool same_grader(const Aggregate& all, const AuditRecord& audit) {
  return std::all_of(all.cells.begin(), all.cells.end(), [&](const ReportedCell& cell) {
    return cell.challenge() != audit.challenge || cell.score.key.device != audit.device ||
           cell.provenance.grader_digest == audit.grader_digest;
  });
}

/// How the graders of this challenge fare against solutions known to be wrong and to be right.
std::string graders_graded(const Aggregate& all, const std::string& name, Device device) {
  const AuditRecord* audit = all.audit(name, device);
  if (!audit) return "";
  return fmt::format(
      "## The graders{}, graded\n\n{} of {} known-wrong solutions were noticed, {} of {} runs of "
      "known-right ones were rejected; checks that noticed none: {}.{} "
      "Which check noticed which: {}\n\n",
      device == Device::cpu ? "" : fmt::format(" on {}", name_of(device)), audit->right("mutant"),
      audit->count("mutant"), audit->count("honest") - audit->right("honest"),
      audit->count("honest"),
      audit->idle_checks.empty() ? "none" : markdown::text(sentence_list(audit->idle_checks)),
      same_grader(all, *audit) ? "" : " The grades above come from another state of the grader.",
      site_file(kills_path(audit->entry())));
}

}  // namespace

std::string render_challenge(const Aggregate& all, Claims& claims, const ReportedChallenge& column,
                             const Files& plots) {
  std::string page = page_head(column.about.title, "../") + introduction(column);
  page += scores(all, column.name);
  for (const Device device : kAllDevices) page += told_apart(all, claims, column, device);
  page += traps(all, column) + other_checks(all, column) + speeds(all, column.name) +
          picture(plots, speed_path(column.name),
                  "Speed against the reference and the machine's ceiling", "../");
  for (const Device device : kAllDevices) page += graders_graded(all, column.name, device);
  return finished(page);
}

}  // namespace gauntlet
