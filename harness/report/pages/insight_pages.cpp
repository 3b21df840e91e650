// SPDX-License-Identifier: Apache-2.0
// The pages of what follows from all cells together: differentiators, picks, the ledger.
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/pages/pages.h"
#include "harness/report/pages/sentences.h"
#include "harness/report/text/markdown.h"
#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

using markdown::Table;

constexpr std::size_t kListedDifferentiators = 40;
constexpr std::size_t kListedChanges = 24;

std::string differentiator_table(const Aggregate& all) {
  Table table(
      {"Check", "What it attacks", "Passed", "Spread", "Stake", "Places", "Winners", "First place"},
      2);
  const auto& found = all.survey.differentiators;
  for (std::size_t i = 0; i < found.size() && i < kListedDifferentiators; ++i) {
    const Differentiator& one = found[i];
    table.row({check_text(all, one.challenge, one.check.id, ""), markdown::text(one.check.detects),
               fmt::format("{} of {}", one.passed, one.measured), fmt::format("{:.2f}", one.spread),
               fmt::format("{:.1f}", one.stake), std::to_string(one.places),
               std::to_string(one.winners), one.first ? "changes" : ""});
  }
  return table.str() + "\n";
}

std::string failed_by_all(const Aggregate& all, Claims& claims) {
  std::string list;
  for (const Differentiator& one : all.survey.failed_by_all) {
    std::vector<std::string> verdicts;
    for (const auto& name : contestants(all)) {
      const ReportedCell* cell = all.find(name, one.challenge);
      if (!cell || cell->score.key.device != one.device) continue;
      const ReportedCheck* seen = cell->find(one.check.id);
      if (seen && seen->share) verdicts.push_back(claims.at(*cell, *seen) + "/verdict");
    }
    list += "- " +
            claims.say(fmt::format("failed_by_all/{}/{}/{}", one.challenge, one.check.id,
                                   name_of(one.device)),
                       fmt::format("{}/{} is passed by nobody of {}: {}.", one.challenge,
                                   one.check.id, one.measured, one.check.detects),
                       predicate::count(verdicts, "passed", 0)) +
            "\n";
  }
  return fmt::format("## Passed by nobody\n\n{}\n", list.empty() ? "No check.\n" : list);
}

std::string candidates(const Pick& pick) {
  std::string text;
  for (std::size_t i = 0; i < pick.candidates.size() && i < 3; ++i) {
    const Candidate& candidate = pick.candidates[i];
    text += fmt::format("{}{}: {}{}", text.empty() ? "" : "; ", candidate.submission,
                        measure_text(pick.need.measure, candidate.value),
                        candidate.vetoed ? " (failed a critical check)" : "");
  }
  return text;
}

std::string rule_of(const Need& need) {
  std::string rule(name_of(need.measure));
  for (std::size_t i = 0; i < need.sections.size(); ++i)
    if (need.sections[i] > 0)
      rule += fmt::format(", {} {:g}", name_of(static_cast<Section>(i)), need.sections[i]);
  for (const double round : need.rounds) rule += fmt::format(", round {:g}", round);
  return need.critical_veto ? rule + ", no critical failure" : rule;
}

}  // namespace

std::string render_differentiators(const Aggregate& all, Claims& claims) {
  std::string page = page_head("What tells the submissions apart", "");
  if (all.survey.differentiators.empty())
    page += "No check does: all submissions earned the same.\n\n";
  else {
    page +=
        "A check's spread is the variance of what the submissions earned, 1 being the most even "
        "split of all and nothing; its stake the points between who loses most and who loses "
        "least by it, caps included; then the places and the winners of pairs in its challenge "
        "that would change without it.\n\n" +
        differentiator_table(all);
    page += differentiator_sentence(claims, all.survey.differentiators.front(), "differentiators") +
            "\n\n";
  }
  page += failed_by_all(all, claims);
  page += fmt::format("## Passed by everybody\n\n{} checks, with all their points.\n",
                      all.survey.passed_by_all);
  return finished(page);
}

std::string render_picks(const Aggregate& all, Claims& claims) {
  std::string page = page_head("Which for which need", "");
  std::string list;
  Table table({"Need", "Rule", "Candidates, best first"}, 3);
  for (const Pick& pick : all.picks) {
    list += "- " + pick_sentence(claims, pick, "picks") + "\n";
    table.row({markdown::text(pick.need.title), markdown::text(rule_of(pick.need)),
               markdown::text(candidates(pick))});
  }
  if (list.empty()) return finished(page + "Nobody to choose among.\n");
  return finished(page + list +
                  "\nNobody is picked when the second is within the bands of the rubric. The rules "
                  "are data, harness/score/needs.yaml; who was not graded in every challenge that "
                  "a need looks at is no candidate for it.\n\n" +
                  table.str());
}

std::string render_ledger(const Aggregate& all) {
  std::string page = page_head("Ledger", "");
  page +=
      "Published grades that were replaced, oldest first, and what was different about the later "
      "result. Lines are written by `./gauntlet report` when it takes a result over, and never "
      "changed. There are no overrides: a grade is what the rubric makes of executed checks.\n\n";
  Table table({"Submission", "Challenge", "Before", "After", "Because of", "Started"}, 6);
  const std::size_t first =
      all.ledger.size() > kListedChanges ? all.ledger.size() - kListedChanges : 0;
  if (first > 0)
    page += fmt::format("The last {} of {}; all are in `reports/data/ledger.jsonl`.\n\n",
                        kListedChanges, all.ledger.size());
  for (std::size_t i = first; i < all.ledger.size(); ++i) {
    const LedgerEntry& entry = all.ledger[i];
    table.row({markdown::text(entry.submission), markdown::text(entry.challenge),
               markdown::text(entry.before), markdown::text(entry.after),
               markdown::text(sentence_list(entry.because)), markdown::text(entry.when)});
  }
  return finished(page + (table.empty() ? "Nothing was replaced yet.\n" : table.str()));
}

}  // namespace gauntlet
