#include "harness/report/criteria.h"

#include <fmt/format.h>

#include "harness/report/pages.h"
#include "harness/report/phrases.h"

namespace gauntlet {
namespace {

using Criteria = std::vector<Criterion>;

void add_sections(const ReportedCell& a, const ReportedCell& b, Criteria& found) {
  for (const auto& own : a.score.sections)
    for (const auto& other : b.score.sections)
      if (own.section == other.section && own.score && other.score)
        found.push_back({fmt::format("{}, score", name_of(own.section)), false, points(*own.score),
                         points(*other.score), 0});
}

void add_speeds(const Rubric& rubric, const CheckObservation& a, const CheckObservation& b,
                Criteria& found) {
  for (const auto& own : a.speeds)
    for (const auto& other : b.speeds)
      if (own.case_name == other.case_name)
        found.push_back({fmt::format("{}: {}", a.info.id, own.case_name), false, speed_text(own),
                         speed_text(other), edge(rubric, own, other)});
}

bool failed(const ReportedCheck* check) {
  return check && blames_submission(check->seen.verdict);
}

void add_check(const Aggregate& all, const CheckInfo& check, const ReportedCell& a,
               const ReportedCell& b, std::size_t hint, Criteria& found) {
  const ReportedCheck* own = a.find(check.id, hint);
  const ReportedCheck* other = b.find(check.id, hint);
  if (own && other && both_timed(*own, *other)) {
    add_speeds(all.rubric, own->seen, other->seen, found);
    return;
  }
  const int side = own && other ? edge(all.rubric, *own, *other).value_or(0) : 0;
  const bool one_sided = !own != !other && (failed(own) || failed(other));
  if (side != 0 || one_sided)
    found.push_back({check.id, check.severity >= Severity::critical, outcome_text(&a, check.id),
                     outcome_text(&b, check.id), side});
}

}  // namespace

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
