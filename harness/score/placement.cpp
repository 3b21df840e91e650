// SPDX-License-Identifier: Apache-2.0
#include "harness/score/placement.h"

#include <algorithm>
#include <fmt/format.h>

namespace gauntlet {
namespace {

/// Places by the low ends alone.
std::vector<std::optional<Place>> places_as_failed(double band, const Standings& column) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < column.size(); ++i)
    if (column[i]) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return column[a]->score.low > column[b]->score.low;
  });
  std::vector<std::optional<Place>> places(column.size());
  for (std::size_t first = 0; first < order.size();) {
    const Standing& anchor = *column[order[first]];
    const auto same = [&](const Standing& one) {
      return anchor.score.low - one.score.low < band || anchor.measured.low <= one.measured.high;
    };
    std::size_t end = first + 1;
    while (end < order.size() && same(*column[order[end]])) ++end;
    const int number = static_cast<int>(first) + 1;
    for (std::size_t i = first; i < end; ++i) places[order[i]] = Place{number, end - first > 1};
    first = end;
  }
  return places;
}

/// How many others are ahead of a score by the band, each taken by one end of its range.
template <class End>
int ahead_of(double band, const Standings& column, std::size_t own, double score, const End& end) {
  int count = 0;
  for (std::size_t i = 0; i < column.size(); ++i)
    if (i != own && column[i] && end(column[i]->score) > score &&
        end(column[i]->score) - score >= band)
      ++count;
  return count;
}

}  // namespace

std::vector<std::optional<Place>> placements(double band, const Standings& column) {
  auto places = places_as_failed(band, column);
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (!column[i] || !column[i]->open()) continue;
    const Interval& score = column[i]->score;
    const int worst =
        1 + ahead_of(band, column, i, score.low, [](const Interval& one) { return one.high; });
    const int best =
        1 + ahead_of(band, column, i, score.high, [](const Interval& one) { return one.low; });
    places[i]->number = std::max(places[i]->number, worst);
    if (best < places[i]->number) places[i]->best = best;
  }
  for (auto& place : places)
    for (const auto& other : places)
      if (place && other && &place != &other &&
          other->best.value_or(other->number) <= place->number && place->number <= other->number)
        place->shared = true;
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
