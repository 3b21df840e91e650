// SPDX-License-Identifier: Apache-2.0
#include "harness/score/compare.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

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

/// What cannot be changed by what is missing: above 0 when the first is surely ahead, below 0 when
/// the second is, nothing when neither is.
std::optional<double> sure_difference(const CellScore& first, const CellScore& second) {
  const Interval a = first.ends();
  const Interval b = second.ends();
  if (!first.open() && !second.open()) return a.low - b.low;
  if (a.low > b.high) return a.low - b.high;
  if (b.low > a.high) return a.high - b.low;
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Margin margin) {
  return kMargins.of(margin);
}

bool comparable(const CellScore& a, const CellScore& b) {
  return a.key.challenge == b.key.challenge && a.key.size == b.key.size &&
         a.key.device == b.key.device && a.grader_digest == b.grader_digest;
}

PairVerdict compare(const Rubric& rubric, const CellScore* first, const CellScore* second) {
  if (!first || !second || !first->score || !second->score) return {};
  if (!comparable(*first, *second)) return {};
  const auto difference = sure_difference(*first, *second);
  if (!difference) return {};
  const auto verdict = [&](Margin margin, int winner) {
    return PairVerdict{margin, winner, *difference};
  };
  if (std::abs(*difference) < rubric.tie_band || *difference == 0) return verdict(Margin::tie, 0);
  const int winner = *difference > 0 ? 1 : -1;
  const CellScore& ahead = winner > 0 ? *first : *second;
  const CellScore& behind = winner > 0 ? *second : *first;
  if (ahead.critical_failure() && !behind.critical_failure()) return verdict(Margin::split, 0);
  if (behind.critical_failure() && !ahead.critical_failure())
    return verdict(Margin::decisive_critical, winner);
  return verdict(margin_of(rubric, std::abs(*difference)), winner);
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
