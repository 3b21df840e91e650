// SPDX-License-Identifier: Apache-2.0
#include "harness/score/compare.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "harness/core/names.h"

namespace gauntlet {
namespace {

constexpr NameTable<Margin, 7> kMargins{
    "margin",
    {"n/a", "Tie", "Split", "Narrow", "Moderate", "Decisive", "Decisive (critical failure)"}};

Margin margin_of(const Rubric& rubric, double difference) {
  if (difference < rubric.narrow_below) return Margin::narrow;
  return difference < rubric.moderate_below ? Margin::moderate : Margin::decisive;
}

/// How far apart the ranges are: above 0 when the first is the higher one.
double gap(const Interval& first, const Interval& second) {
  return first.low > second.high ? first.low - second.high : first.high - second.low;
}

}  // namespace

std::string_view name_of(Margin margin) {
  return kMargins.of(margin);
}

bool comparable(const CellScore& a, const CellScore& b) {
  if (a.key.column() != b.key.column() || a.key.device != b.key.device) return false;
  if (a.grader_digest != b.grader_digest) return false;
  return a.failed_to_build || b.failed_to_build || a.not_measured == b.not_measured;
}

bool apart(const CellScore& a, const CellScore& b) {
  if (a.key.column() != b.key.column() || a.key.device != b.key.device ||
      a.grader_digest != b.grader_digest)
    return false;
  if (!a.range || !b.range) return false;
  return a.range->low > b.range->high || b.range->low > a.range->high;
}

std::vector<std::optional<Place>> placements(const Rubric& rubric,
                                             const std::vector<std::optional<double>>& scores) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i]) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return *scores[a] > *scores[b]; });
  std::vector<std::optional<Place>> places(scores.size());
  for (std::size_t first = 0; first < order.size();) {
    const double anchor = *scores[order[first]];
    std::size_t end = first + 1;
    while (end < order.size() &&
           (anchor - *scores[order[end]] < rubric.tie_band || anchor == *scores[order[end]]))
      ++end;
    for (std::size_t i = first; i < end; ++i)
      places[order[i]] = Place{static_cast<int>(first) + 1, end - first > 1};
    first = end;
  }
  return places;
}

std::string ordinal(const Place& placement) {
  const int n = placement.number;
  const bool teen = n % 100 >= 11 && n % 100 <= 13;
  const char* suffix = teen          ? "th"
                       : n % 10 == 1 ? "st"
                       : n % 10 == 2 ? "nd"
                       : n % 10 == 3 ? "rd"
                                     : "th";
  return fmt::format("{}{}{}", n, suffix, placement.shared ? "=" : "");
}

PairVerdict compare(const Rubric& rubric, const CellScore* first, const CellScore* second) {
  if (!first || !second || !first->score || !second->score) return {Margin::not_comparable, 0};
  const bool same_questions = comparable(*first, *second);
  if (!same_questions && !apart(*first, *second)) return {Margin::not_comparable, 0};
  const double difference =
      same_questions ? *first->score - *second->score : gap(*first->range, *second->range);
  if (std::abs(difference) < rubric.tie_band || difference == 0) return {Margin::tie, 0};
  const int winner = difference > 0 ? 1 : -1;
  const CellScore& ahead = winner > 0 ? *first : *second;
  const CellScore& behind = winner > 0 ? *second : *first;
  if (ahead.critical_failure() && !behind.critical_failure()) return {Margin::split, 0};
  if (behind.critical_failure() && !ahead.critical_failure())
    return {Margin::decisive_critical, winner};
  return {margin_of(rubric, std::abs(difference)), winner};
}

int edge(const Rubric& rubric, const SpeedMeasurement& first, const SpeedMeasurement& second) {
  if (!rubric.counts(first) || !rubric.counts(second)) return 0;
  const Interval a = rubric.ratio_interval(first);
  const Interval b = rubric.ratio_interval(second);
  if (a.low > b.high * rubric.equal_within) return 1;
  return b.low > a.high * rubric.equal_within ? -1 : 0;
}

void Record::count(const PairVerdict& verdict) {
  if (verdict.margin == Margin::not_comparable)
    ++not_comparable;
  else if (verdict.winner > 0)
    ++won;
  else if (verdict.winner < 0)
    ++lost;
  else
    ++tied;
}

void Record::add(const Record& other) {
  won += other.won;
  lost += other.lost;
  tied += other.tied;
  not_comparable += other.not_comparable;
}

std::string_view Record::verb() const {
  if (won + lost + tied == 0) return "shares nothing with";
  if (won == lost) return "is level with";
  return won > lost ? "leads" : "trails";
}

}  // namespace gauntlet
