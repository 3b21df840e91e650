#include <algorithm>
#include <fmt/format.h>

#include "harness/core/entry.h"
#include "harness/core/text.h"
#include "harness/report/markdown.h"
#include "harness/report/pages.h"
#include "harness/report/phrases.h"
#include "harness/report/plots.h"
#include "harness/report/stated_claims.h"

namespace gauntlet {
namespace {

using markdown::Table;

constexpr std::size_t kShownFailures = 5;  // of one submission

std::vector<std::string> takers(const Aggregate& all, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& submission : all.submissions)
    if (all.find(submission.name, name)) names.push_back(submission.name);
  return names;
}

std::string introduction(const ReportedChallenge& column) {
  std::string text = fmt::format("Difficulty {}, round {}.",
                                 markdown::text(column.about.difficulty), column.about.round);
  if (!column.standard) text += " Graded at another size than the standard one, with own places.";
  if (!column.about.asks.empty()) text += "\n\n> " + markdown::text(column.about.asks);
  return text + "\n\n";
}

std::string section_text(const CellScore& score, Section section) {
  for (const auto& one : score.sections)
    if (one.section == section) return one.score ? points(*one.score) : unicode_signs().unmeasured;
  return unicode_signs().absent;
}

std::string scores(const Aggregate& all, const std::string& name) {
  Table table({"Submission", "Grade", "Correctness", "Robustness", "Performance", "Engineering",
               "Where it may lie", "Checks passed"});
  for (const auto& submission : takers(all, name)) {
    const ReportedCell& cell = *all.find(submission, name);
    table.row({submission_link(submission, "../"), cell_text(all, &cell),
               section_text(cell.score, Section::correctness),
               section_text(cell.score, Section::robustness),
               section_text(cell.score, Section::performance),
               section_text(cell.score, Section::engineering),
               cell.score.range ? range_text(*cell.score.range) : unicode_signs().absent,
               fmt::format("{} of {}", cell.passed, cell.checks.size())});
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
    for (const auto& submission : group) header.push_back(submission);
    Table table(header, header.size());
    for (const CheckInfo& check : column.checks) {
      if (!wanted(check)) continue;
      std::vector<std::string> row{markdown::text(check.attacks), markdown::code(check.id)};
      for (const auto& submission : group)
        row.push_back(markdown::text(outcome_text(all.find(submission, column.name), check.id)));
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

/// Who alone passes a check, and what nobody passes, from three submissions on.
std::string told_apart(const Aggregate& all, Claims& claims, const ReportedChallenge& column) {
  std::string list;
  for (const CheckInfo& check : column.checks) {
    std::vector<std::string> verdicts;
    std::vector<std::string> passing;
    for (const auto& name : contestants(all)) {
      const ReportedCell* cell = all.find(name, column.name);
      const ReportedCheck* seen = cell ? cell->find(check.id) : nullptr;
      if (!seen || !seen->share) continue;
      verdicts.push_back(claims.at(*cell, *seen) + "/verdict");
      if (seen->seen.verdict == Verdict::passed) passing.push_back(name);
    }
    if (verdicts.size() < 3 || passing.size() > 1) continue;
    const std::string who = passing.empty() ? "Nobody" : "Only " + passing.front();
    list += "- " +
            claims.say(fmt::format("passes/{}/{}", column.name, check.id),
                       fmt::format("{} of {} passes {}: {}.", who, verdicts.size(), check.id,
                                   check.attacks),
                       predicate::count(verdicts, "passed", passing.size())) +
            "\n";
  }
  return list.empty() ? "" : list + "\n";
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f}%", *share * 100) : unicode_signs().absent;
}

std::string speeds(const Aggregate& all, const std::string& name) {
  Table table({"Timed case", "Submission", "Times the reference, 95%", "Verdict", "Time (µs)",
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
  return "## Speed\n\nFastest laps against the reference in the same run; more than 1x is "
         "faster.\n\n" +
         table.str() + "\n";
}

std::string fact_cell(const ReportedCell* cell, const std::string& check, const Fact& wanted) {
  const ReportedCheck* seen = cell->find(check);
  if (seen)
    for (const Fact& fact : seen->seen.facts)
      if (fact.name == wanted.name && fact.unit == wanted.unit)
        return fmt::format("{:.4g}", fact.value);
  return unicode_signs().absent;
}

/// The facts of a check that anybody has, by name and unit.
std::vector<Fact> facts_of(const Aggregate& all, const std::string& name,
                           const std::string& check) {
  std::vector<Fact> facts;
  for (const auto& submission : takers(all, name))
    if (const ReportedCheck* seen = all.find(submission, name)->find(check))
      for (const Fact& fact : seen->seen.facts)
        if (std::none_of(facts.begin(), facts.end(), [&](const Fact& known) {
              return known.name == fact.name && known.unit == fact.unit;
            }))
          facts.push_back(fact);
  return facts;
}

std::string measured(const Aggregate& all, const ReportedChallenge& column) {
  std::string text;
  for (const auto& group : column_groups(takers(all, column.name))) {
    std::vector<std::string> header{"Measured", "Check"};
    header.insert(header.end(), group.begin(), group.end());
    Table table(header, 2);
    for (const CheckInfo& check : column.checks)
      for (const Fact& fact : facts_of(all, column.name, check.id)) {
        std::vector<std::string> row{
            markdown::text(fact.unit.empty() ? fact.name
                                             : fmt::format("{}, {}", fact.name, fact.unit)),
            markdown::code(check.id)};
        for (const auto& submission : group)
          row.push_back(fact_cell(all.find(submission, column.name), check.id, fact));
        table.row(row);
      }
    if (!table.empty()) text += table.str() + "\n";
  }
  return text.empty() ? ""
                      : "## Measured: accuracy, memory, sizes, counts\n\n"
                        "<details><summary>All quantities that checks measured</summary>\n\n" +
                            text + "</details>\n\n";
}

std::string failure_item(const ReportedCell& cell, const ReportedCheck& check) {
  return fmt::format(
      "- {} {} ({}, {:.1f} points): {}  \n  {}\n", markdown::code(check.seen.info.id),
      name_of(check.seen.verdict), name_of(check.seen.info.severity), check.lost,
      markdown::code(check.seen.finding->summary),
      markdown::code(show_command(cell.submission(), cell.challenge(), check.seen.info.id)));
}

/// The failures that cost most, of every submission.
std::string weakest(const Aggregate& all, const std::string& name) {
  std::string text;
  for (const auto& submission : takers(all, name)) {
    const ReportedCell& cell = *all.find(submission, name);
    std::vector<const ReportedCheck*> failed;
    for (const auto& check : cell.checks)
      if (check.seen.finding && blames_submission(check.seen.verdict)) failed.push_back(&check);
    std::stable_sort(failed.begin(), failed.end(),
                     [](const auto* a, const auto* b) { return a->lost > b->lost; });
    if (failed.empty()) continue;
    text += fmt::format(
        "### {}\n\n{} of {} checks failed; the costliest, with the points that "
        "passing it alone would bring:\n\n",
        submission, failed.size(), cell.checks.size());
    for (std::size_t i = 0; i < failed.size() && i < kShownFailures; ++i)
      text += failure_item(cell, *failed[i]);
    text += "\n";
  }
  return text.empty() ? "" : "## What was found\n\n" + text;
}

/// Whether all that was graded was graded by what the audit looked at.
bool same_grader(const Aggregate& all, const AuditRecord& audit) {
  return std::all_of(all.cells.begin(), all.cells.end(), [&](const ReportedCell& cell) {
    return cell.challenge() != audit.challenge ||
           cell.provenance.grader_digest == audit.grader_digest;
  });
}

/// How the graders of this challenge fare against solutions known to be wrong and to be right.
std::string graders_graded(const Aggregate& all, const std::string& name) {
  const AuditRecord* audit = all.audit(name);
  if (!audit) return "";
  return fmt::format(
      "## The graders, graded\n\n{} of {} known-wrong solutions were noticed, {} of {} runs of "
      "known-right ones were rejected; checks that noticed none: {}.{}\n\n{}",
      audit->right("mutant"), audit->count("mutant"),
      audit->count("honest") - audit->right("honest"), audit->count("honest"),
      audit->idle_checks.empty() ? "none" : markdown::text(sentence_list(audit->idle_checks)),
      same_grader(all, *audit) ? "" : " The grades above come from another state of the grader.",
      picture("Which check noticed which known-wrong solution",
              fmt::format("../plots/kills/{}.svg", name), draw_kills(*audit)));
}

}  // namespace

std::string render_challenge(const Aggregate& all, Claims& claims,
                             const ReportedChallenge& column) {
  std::string page = page_head(column.about.title, "../") + introduction(column);
  page += scores(all, column.name) + told_apart(all, claims, column) + traps(all, column) +
          other_checks(all, column) + speeds(all, column.name) +
          picture("Speed against the reference and the machine's ceiling",
                  fmt::format("../plots/speed/{}.svg", column.name), draw_speed(all, column.name)) +
          stated_claims_in(all, column.name) + measured(all, column) + weakest(all, column.name) +
          graders_graded(all, column.name);
  return finished(page);
}

}  // namespace gauntlet
