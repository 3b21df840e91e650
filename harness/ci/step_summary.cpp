// SPDX-License-Identifier: Apache-2.0
#include "harness/ci/step_summary.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "harness/ci/gates.h"
#include "harness/core/text.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

constexpr std::size_t kLongestEntry = 300;  // of one finding
constexpr int kMostCritical = 10;
constexpr std::size_t kTail = 400;  // what is kept for the sentences that count what is missing

std::string safe(std::string_view text, std::size_t limit = kLongestEntry) {
  return markdown::text(one_line(text, limit));
}

/// Adds parts as long as they fit, and says how many did not.
class Budget {
 public:
  explicit Budget(std::size_t limit) : left_(limit) {}

  void add(const std::string& part) {
    text_ += part;
    left_ -= std::min(left_, part.size());
  }

  /// Parts of one kind, at most `share` of what is left; `what` names those that are left out.
  void add_some(const std::vector<std::string>& parts, double share, std::string_view what) {
    const auto reserve = static_cast<std::size_t>(static_cast<double>(left_) * (1 - share)) + kTail;
    std::size_t shown = 0;
    while (shown < parts.size() && parts[shown].size() + reserve <= left_) add(parts[shown++]);
    if (shown < parts.size())
      add(fmt::format("\n_{} more {} did not fit; ci.json has everything._\n", parts.size() - shown,
                      what));
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t left_;
};

std::string row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

std::string change_text(const CiRun& run, const CiCell& cell) {
  const BaselineChange comparison = compare_with_baseline(run.rubric, cell);
  switch (comparison.kind) {
    case BaselineChange::Kind::first_time:
      return "new";
    case BaselineChange::Kind::same:
      return "same";
    case BaselineChange::Kind::better:
      return "better: " + safe(comparison.text);
    case BaselineChange::Kind::worse:
      return "**worse**: " + safe(comparison.text);
    case BaselineChange::Kind::incomparable:
      return "not comparable: " + safe(comparison.text);
  }
  return "";
}

std::string gates_text(const CiRun& run, const CellKey& key) {
  std::vector<std::string> said;
  for (const GateAnswer& gate : run.gates) {
    if (gate.key != key) continue;
    const char* word = gate.outcome == GateOutcome::passed         ? "passed"
                       : gate.outcome == GateOutcome::failed       ? "**failed**"
                       : gate.outcome == GateOutcome::incomparable ? "nothing to compare"
                                                                   : "no answer";
    said.push_back(fmt::format("{} {}", safe(gate.rule), word));
  }
  return said.empty() ? "-" : fmt::format("{}", sentence_list(said));
}

void add_submissions(const CiRun& run, Budget& budget) {
  std::vector<std::string> lines;
  for (const CiSubmission& one : run.submissions) {
    std::string line = fmt::format(
        "- {} ({}{})", safe(one.changed.generation()), name_of(one.changed.change),
        one.changed.renamed_from.empty() ? "" : " from " + safe(one.changed.renamed_from));
    if (!one.problems.empty()) line += ": **invalid**";
    for (const std::string& problem : one.problems) line += "\n  - " + safe(problem);
    for (const CellKey& key : one.lost)
      line += fmt::format("\n  - {}: the baseline has a grade, and there is no solution any more",
                          safe(key.column()));
    lines.push_back(line + "\n");
  }
  if (!lines.empty()) budget.add("\n### Submissions\n\n");
  budget.add_some(lines, 0.3, "submissions");
}

void add_grades(const CiRun& run, Budget& budget) {
  if (run.cells.empty()) return;
  budget.add("\n### Grades\n\n" +
             row({"Submission", "Challenge", "Grade", "Since the baseline", "Gates"}) +
             row({"---", "---", "---", "---", "---"}));
  std::vector<std::string> rows;
  for (const CiCell& cell : run.cells) {
    const CellKey& key = cell.seen.key;
    const BoardCell plain{cell.score, std::nullopt};
    rows.push_back(
        row({safe(key.row()), safe(key.column()), safe(cell_text(&plain, unicode_signs())),
             change_text(run, cell), gates_text(run, key)}));
  }
  budget.add_some(rows, 0.5, "rows");
}

void add_critical(const CiRun& run, Budget& budget) {
  int seen = 0;
  std::vector<std::string> lines;
  for (const CiCell& cell : run.cells)
    for (const CheckObservation& check : cell.seen.checks) {
      if (!blames_submission(check.verdict) || check.info.severity < Severity::critical) continue;
      if (++seen > kMostCritical) continue;
      lines.push_back(fmt::format("- {} {}: {} {}\n  `{}`\n", safe(cell.seen.key.text()),
                                  safe(check.info.id), name_of(check.verdict),
                                  safe(check.finding ? check.finding->summary : ""),
                                  rerun_command(cell.seen, check.info.id)));
    }
  if (lines.empty()) return;
  if (seen > kMostCritical)
    lines.push_back(fmt::format("- and {} more; ci.json has all\n", seen - kMostCritical));
  budget.add("\n### Failed critical checks\n\n");
  budget.add_some(lines, 0.5, "checks");
}

void add_missing(const CiRun& run, Budget& budget) {
  std::vector<std::string> lines;
  if (!run.fault.empty()) lines.push_back("- the grader could not work: " + safe(run.fault) + "\n");
  for (const CiCell& cell : run.cells)
    if (!cell.score.reasons.empty() || cell.score.status != CellStatus::graded)
      lines.push_back(fmt::format("- {}{}: {}\n", safe(cell.seen.key.text()),
                                  is_broken(cell.score) ? " (our own fault)" : "",
                                  safe(sentence_list(cell.score.reasons), 1000)));
  if (lines.empty()) return;
  budget.add(
      "\n### Not measured\n\nNone of this is a failure of a submission. What is missing "
      "counts as failed at the low end of a grade, which gates look at.\n\n");
  budget.add_some(lines, 0.5, "cells");
}

/// All that a cell failed, folded away.
std::string details(const CiCell& cell) {
  std::string rows;
  int failed = 0;
  for (const CheckObservation& check : cell.seen.checks)
    if (blames_submission(check.verdict)) {
      ++failed;
      rows += row({safe(check.info.id), std::string(name_of(check.info.severity)),
                   std::string(name_of(check.verdict)),
                   safe(check.finding ? check.finding->summary : "")});
    }
  std::string text =
      fmt::format("\n<details><summary>{}: {}</summary>\n\n", safe(cell.seen.key.text()),
                  cell.score.failed_to_build
                      ? "does not build"
                      : fmt::format("{} of {} checks failed", failed, cell.seen.checks.size()));
  if (!cell.seen.build.ok && !cell.seen.build.messages.empty())
    text += markdown::block(printable(cell.seen.build.messages, 4000)) + "\n";
  if (failed > 0)
    text += row({"Check", "Severity", "Verdict", "What it saw"}) +
            row({"---", "---", "---", "---"}) + rows;
  return text + fmt::format("\nSeed `{}`.\n</details>\n", cell.seen.seed.text());
}

std::string provenance(const CiRun& run) {
  std::string text =
      fmt::format("\ngauntlet {}, rubric `{}`", safe(run.version), run.rubric.digest.substr(0, 12));
  if (!run.base.empty())
    text += fmt::format(", changes since {} (`{}`)", safe(run.base), safe(run.base_id, 12));
  if (!run.cells.empty()) text += "; " + safe(run.cells.front().seen.provenance.cpu);
  return text + fmt::format(". Baseline: {}.\n", safe(run.baseline));
}

}  // namespace

std::string step_summary(const CiRun& run, std::size_t limit) {
  Budget budget(limit);
  budget.add("## Gauntlet\n\n**" + safe(run.verdict()) + "**\n");
  if (run.outside > 0 && !run.submissions.empty())
    budget.add(fmt::format("\n{} changed file{} outside the submissions grade{} nothing.\n",
                           run.outside, run.outside == 1 ? "" : "s", run.outside == 1 ? "s" : ""));
  budget.add(provenance(run));
  add_submissions(run, budget);
  add_grades(run, budget);
  add_critical(run, budget);
  add_missing(run, budget);
  std::vector<std::string> folded;
  for (const CiCell& cell : run.cells) folded.push_back(details(cell));
  budget.add_some(folded, 1, "challenges in detail");
  return budget.text();
}

}  // namespace gauntlet
