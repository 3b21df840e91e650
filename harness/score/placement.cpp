// SPDX-License-Identifier: Apache-2.0
#include "harness/score/placement.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <tuple>

namespace gauntlet {
namespace {

/// Best low end first. Who is the first of equal ones decides who is compared with whom: the
/// attempts say so before the order of the column does.
std::vector<std::size_t> by_low_end(const Standings& column) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < column.size(); ++i)
    if (column[i]) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(column[a]->score.low, column[a]->attempts) >
           std::tie(column[b]->score.low, column[b]->attempts);
  });
  return order;
}

std::optional<Behind> behind(const Standings& column, std::size_t ahead, std::size_t own,
                             const Resamples* resamples) {
  if (!resamples) return std::nullopt;
  return Behind{ahead, column[ahead]->score.low - column[own]->score.low,
                resamples->difference(column[ahead]->attempts, column[own]->attempts)};
}

/// Places by the low ends alone.
std::vector<std::optional<Place>> places_as_failed(double band, const Standings& column,
                                                   const Resamples* resamples) {
  const auto order = by_low_end(column);
  std::vector<std::optional<Place>> places(column.size());
  std::size_t first = 0;  // of the group, in the order
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Standing& anchor = *column[order[first]];
    const Standing& one = *column[order[i]];
    const auto apart = i > 0 ? behind(column, order[first], order[i], resamples) : std::nullopt;
    const bool same = anchor.score.low - one.score.low < band ||
                      anchor.measured.low <= one.measured.high ||
                      (apart && apart->interval.low <= 0);
    if (i > first && !same) first = i;
    places[order[i]] = Place{static_cast<int>(first) + 1, false, std::nullopt, apart};
  }
  return places;
}

/// How many others are ahead of a score by the band, each taken by one end of its range, without
/// those that `left_out` names.
template <class End, class LeftOut>
int ahead_of(double band, const Standings& column, std::size_t own, double score, const End& end,
             const LeftOut& left_out) {
  int count = 0;
  for (std::size_t i = 0; i < column.size(); ++i)
    if (i != own && column[i] && !left_out(i) && end(column[i]->score) > score &&
        end(column[i]->score) - score >= band)
      ++count;
  return count;
}

/// What is missing leaves places open, its own and those of others.
void open_places(double band, const Standings& column, std::vector<std::optional<Place>>& places) {
  const auto as_failed = places;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (!column[i] || !column[i]->open()) continue;
    const Interval& score = column[i]->score;
    const auto one_group = [&](std::size_t other) {  // of nothing that might be worth more
      return !column[other]->open() && as_failed[other]->number == as_failed[i]->number;
    };
    const int worst = 1 + ahead_of(
                              band, column, i, score.low,
                              [](const Interval& one) { return one.high; }, one_group);
    const int best =
        1 + ahead_of(
                band, column, i, score.high, [](const Interval& one) { return one.low; },
                [](std::size_t) { return false; });
    places[i]->number = std::max(places[i]->number, worst);
    if (best < places[i]->number) places[i]->best = best;
  }
}

/// Marks whose place another one has, or may have.
void share_places(std::vector<std::optional<Place>>& places) {
  std::vector<int> changes(places.size() + 2);  // of how many may have it, from place to place
  for (const auto& place : places)
    if (place) {
      ++changes[static_cast<std::size_t>(place->best.value_or(place->number))];
      --changes[static_cast<std::size_t>(place->number) + 1];
    }
  std::partial_sum(changes.begin(), changes.end(), changes.begin());
  for (auto& place : places)
    if (place) place->shared = changes[static_cast<std::size_t>(place->number)] > 1;
}

}  // namespace

std::vector<std::optional<Place>> placements(double band, const Standings& column,
                                             const Resamples* resamples) {
  auto places = places_as_failed(band, column, resamples);
  open_places(band, column, places);
  share_places(places);
  return places;
}

std::vector<std::optional<Place>> placements(double band,
                                             const std::vector<std::optional<double>>& scores) {
  Standings column;
  for (const auto& score : scores)
    column.push_back(score ? std::optional(Standing{{*score, *score}, {*score, *score}})
                           : std::nullopt);
  return placements(band, column);
}

std::string ordinal(const Place& placement) {
  const auto word = [](int n) {
    const bool teen = n % 100 >= 11 && n % 100 <= 13;
    const char* suffix = teen          ? "th"
                         : n % 10 == 1 ? "st"
                         : n % 10 == 2 ? "nd"
                         : n % 10 == 3 ? "rd"
                                       : "th";
    return fmt::format("{}{}", n, suffix);
  };
  if (placement.best) return fmt::format("{}..{}", word(placement.number), word(*placement.best));
  return word(placement.number) + (placement.shared ? "=" : "");
}

}  // namespace gauntlet
