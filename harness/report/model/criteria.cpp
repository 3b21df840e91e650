// SPDX-License-Identifier: Apache-2.0
#include "harness/report/model/criteria.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/report/text/phrases.h"

namespace gauntlet {
namespace {

constexpr std::size_t kShownSummary = 90;  // bytes of a finding, in a table

std::string cut(std::string text) {
  if (text.size() <= kShownSummary) return text;
  std::size_t end = kShownSummary;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + " ...";
}

using Criteria = std::vector<Criterion>;

void add_sections(const ReportedCell& a, const ReportedCell& b, Criteria& found) {
  for (const auto& own : a.score.sections)
    for (const auto& other : b.score.sections)
      if (own.section == other.section && (own.asked || other.asked))
        found.push_back({fmt::format("{}, score", name_of(own.section)), false,
                         section_text(own, unicode_signs()), section_text(other, unicode_signs()),
                         0});
}

void add_speeds(const Rubric& rubric, const ReportedCheck& a, const ReportedCheck& b,
                Criteria& found) {
  for (const auto& own : a.seen.speeds)
    for (const auto& other : b.seen.speeds)
      if (own.case_name == other.case_name)
        found.push_back({fmt::format("{}: {}", a.seen.info.id, own.case_name), false,
                         speed_text(own), speed_text(other), edge(rubric, a, own, b, other)});
}

/// Some timed cases of the check do not count.
bool partly_measured(const CellScore& score, std::string_view check) {
  const std::string cases = std::string(check) + "/";
  return std::any_of(score.not_measured.begin(), score.not_measured.end(),
                     [&](const std::string& one) { return one.starts_with(cases); });
}

/// What it found besides, where it found something.
std::string told(const ReportedCell& cell, std::string_view check) {
  const ReportedCheck* seen = cell.find(check);
  std::string text = outcome_text(&cell, check);
  if (seen && seen->seen.finding) text += ": " + cut(seen->seen.finding->summary);
  return text;
}

bool failed(const ReportedCheck* check) {
  return check && blames_submission(check->seen.verdict);
}

void add_check(const Aggregate& all, const CheckInfo& check, const ReportedCell& a,
               const ReportedCell& b, std::size_t hint, Criteria& found) {
  const ReportedCheck* own = a.find(check.id, hint);
  const ReportedCheck* other = b.find(check.id, hint);
  if (own && other && both_timed(*own, *other)) {
    add_speeds(all.rubric, *own, *other, found);
    return;
  }
  const int side = own && other ? edge(all.rubric, *own, *other).value_or(0) : 0;
  const bool one_sided = !own != !other && (failed(own) || failed(other));
  if (side != 0 || one_sided)
    found.push_back({check.id, check.severity >= Severity::critical, told(a, check.id),
                     told(b, check.id), side});
}

}  // namespace

std::string outcome_text(const ReportedCell* cell, std::string_view check) {
  if (!cell) return unicode_signs().absent;
  const ReportedCheck* seen = cell->find(check);
  if (!seen) return cell->score.failed_to_build ? "did not build" : "not asked";
  if (seen->seen.verdict != Verdict::passed) return std::string(name_of(seen->seen.verdict));
  if (!seen->share) return "too noisy";
  if (*seen->share == 1) return "passed";
  return fmt::format("{:.0f}% of its points{}", *seen->share * 100,
                     partly_measured(cell->score, check) ? ", not all measured" : "");
}

std::vector<Criterion> criteria(const Aggregate& all, const ReportedPair& pair,
                                const std::string& challenge) {
  Criteria found;
  const ReportedCell* a = all.find(pair.first, challenge);
  const ReportedCell* b = all.find(pair.second, challenge);
  if (!a || !b) return found;
  add_sections(*a, *b, found);
  const auto& checks = all.challenge(challenge).checks;
  for (std::size_t i = 0; i < checks.size(); ++i) add_check(all, checks[i], *a, *b, i, found);
  return found;
}

}  // namespace gauntlet
