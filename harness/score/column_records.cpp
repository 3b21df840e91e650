// SPDX-License-Identifier: Apache-2.0
#include "harness/score/column_records.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace gauntlet {
namespace {

/// Of a score that has one. Both ends are the same unless something could not be measured.
struct Ends {
  double low = 0;
  double high = 0;
  bool open = false;
  bool critical = false;

  explicit Ends(const CellScore& score)
      : low(*score.score), open(score.open()), critical(score.critical_failure()) {
    high = open ? score.ends().high : low;
  }
};

using Places = std::vector<std::size_t>;  // in a column

/// Those with a score, together where comparable() says that they are.
std::vector<Places> groups_of(const std::vector<const CellScore*>& column) {
  std::map<std::tuple<std::string, Device, std::string>, Places> groups;
  for (std::size_t i = 0; i < column.size(); ++i)
    if (column[i] && column[i]->score)
      groups[{column[i]->key.column(), column[i]->key.device, column[i]->grader_digest}].push_back(
          i);
  std::vector<Places> found;
  for (auto& [key, places] : groups) found.push_back(std::move(places));
  return found;
}

/// Numbers in order. Since lesser ones are beaten by whoever beats greater ones, how many are
/// beaten is where the order is cut.
class Ordered {
 public:
  void add(double number) { numbers_.push_back(number); }
  void sort() { std::sort(numbers_.begin(), numbers_.end()); }

  std::size_t size() const { return numbers_.size(); }

  /// How many from the least on hold; all that do are in front of those that do not.
  template <class Holds>
  std::size_t prefix(const Holds& holds) const {
    return static_cast<std::size_t>(std::partition_point(numbers_.begin(), numbers_.end(), holds) -
                                    numbers_.begin());
  }
  std::size_t below(double number) const {
    return prefix([&](double one) { return one < number; });
  }
  std::size_t above(double number) const {
    return size() - prefix([&](double one) { return one <= number; });
  }

 private:
  std::vector<double> numbers_;
};

class Group {
 public:
  Group(const Rubric& rubric, const std::vector<Ends>& all) : rubric_(rubric) {
    for (const Ends& one : all) {
      highs_[one.critical].add(one.high);
      lows_[one.critical].add(one.low);
      (one.open ? open_highs_ : closed_highs_).add(one.high);
      (one.open ? open_lows_ : closed_lows_).add(one.low);
    }
    for (auto* numbers : {&highs_[0], &highs_[1], &lows_[0], &lows_[1], &open_highs_, &open_lows_,
                          &closed_highs_, &closed_lows_})
      numbers->sort();
  }

  /// One of the group against all others in it; `others` are those of the whole column.
  Record record(const Ends& own, std::size_t others) const {
    const std::size_t won = wins(own);
    const std::size_t lost = losses(own);
    const std::size_t told = told_apart(own);
    Record record;
    record.won = static_cast<int>(won);
    record.lost = static_cast<int>(lost);
    record.tied = static_cast<int>(told - won - lost);
    record.not_comparable = static_cast<int>(others - told);
    return record;
  }

  /// Nobody wins against themselves: a low end is above no high end of the same score. Who failed
  /// a critical check wins against those who did as well.
  std::size_t wins(const Ends& own) const {
    const auto beaten = [&](double high) { return is_win(rubric_, own.low, high); };
    return highs_[1].prefix(beaten) + (own.critical ? 0 : highs_[0].prefix(beaten));
  }

  static bool is_win(const Rubric& rubric, double low, double high) {
    const double ahead = low - high;
    return ahead > 0 && ahead >= rubric.tie_band;
  }

 private:
  std::size_t losses(const Ends& own) const {
    const auto held = [&](double low) { return !is_win(rubric_, low, own.high); };
    const std::size_t clean = lows_[0].size() - lows_[0].prefix(held);
    return clean + (own.critical ? lows_[1].size() - lows_[1].prefix(held) : 0);
  }

  /// Of how many others it is sure how far they are away.
  std::size_t told_apart(const Ends& own) const {
    const std::size_t open = open_highs_.below(own.low) + open_lows_.above(own.high);
    if (!own.open) return open + closed_highs_.size() - 1;
    return open + closed_highs_.below(own.low) + closed_lows_.above(own.high);
  }

  const Rubric& rubric_;
  std::array<Ordered, 2> highs_;  // by whether a critical check was failed
  std::array<Ordered, 2> lows_;
  Ordered open_highs_, open_lows_, closed_highs_, closed_lows_;
};

/// Counts what was added in front of a place (a Fenwick tree).
class Tally {
 public:
  explicit Tally(std::size_t places) : sums_(places + 1, 0) {}

  void add(std::size_t place) {
    for (std::size_t i = place + 1; i < sums_.size(); i += i & (~i + 1)) ++sums_[i];
  }
  std::size_t before(std::size_t place) const {
    std::size_t sum = 0;
    for (std::size_t i = place; i > 0; i -= i & (~i + 1)) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<std::size_t> sums_;
};

/// A score before and after.
using Both = std::pair<Ends, Ends>;

/// Ordered by what `number` says of each: the places of the items, and the numbers.
template <class Number>
std::pair<Places, Ordered> ranks_by(const std::vector<Both>& items, const Number& number) {
  Places order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return number(items[a]) < number(items[b]);
  });
  Places ranks(items.size());
  Ordered numbers;
  for (std::size_t i = 0; i < order.size(); ++i) {
    ranks[order[i]] = i;
    numbers.add(number(items[order[i]]));
  }
  return {std::move(ranks), std::move(numbers)};
}

/// How many ordered pairs have a first that wins before and, afterwards, wins again or loses. The
/// items are gone through by rising low ends, so that whoever was beaten once stays beaten.
struct Kept {
  std::size_t again = 0;
  std::size_t turned = 0;
};

Kept kept_of(const Rubric& rubric, const std::vector<Both>& items) {
  const auto [high_ranks, highs] = ranks_by(items, [](const Both& one) { return one.second.high; });
  const auto [low_ranks, lows] = ranks_by(items, [](const Both& one) { return one.second.low; });
  const auto order_by = [&](const auto& number) {
    Places order(items.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return number(items[a].first) < number(items[b].first);
    });
    return order;
  };
  const Places by_low = order_by([](const Ends& ends) { return ends.low; });
  const Places by_high = order_by([](const Ends& ends) { return ends.high; });
  // By whether a critical check was failed, before and after.
  using Tallies = std::array<std::array<Tally, 2>, 2>;
  const Tally none(items.size());
  Tallies beaten_highs{{{none, none}, {none, none}}};
  Tallies beaten_lows = beaten_highs;
  std::array<std::array<std::size_t, 2>, 2> beaten{};
  Kept kept;
  std::size_t next = 0;
  for (const std::size_t i : by_low) {
    const Ends& before = items[i].first;
    const Ends& after = items[i].second;
    for (; next < by_high.size(); ++next) {
      const std::size_t j = by_high[next];
      const Ends& other = items[j].first;
      if (!Group::is_win(rubric, before.low, other.high)) break;
      const bool then = items[j].second.critical;
      beaten_highs[other.critical][then].add(high_ranks[j]);
      beaten_lows[other.critical][then].add(low_ranks[j]);
      ++beaten[other.critical][then];
    }
    const std::size_t wins_up_to =
        highs.prefix([&](double high) { return Group::is_win(rubric, after.low, high); });
    const std::size_t loses_from =
        lows.prefix([&](double low) { return !Group::is_win(rubric, low, after.high); });
    for (const bool was_critical : {false, true})
      for (const bool is_critical : {false, true}) {
        if (before.critical && !was_critical) continue;  // a split
        if (!after.critical || is_critical)
          kept.again += beaten_highs[was_critical][is_critical].before(wins_up_to);
        if (!is_critical || after.critical)
          kept.turned += beaten[was_critical][is_critical] -
                         beaten_lows[was_critical][is_critical].before(loses_from);
      }
  }
  return kept;
}

std::vector<const CellScore*> pointers_to(const std::vector<CellScore>& scores) {
  std::vector<const CellScore*> column;
  for (const CellScore& score : scores) column.push_back(&score);
  return column;
}

std::size_t wins_in(const Rubric& rubric, const std::vector<CellScore>& scores) {
  std::size_t wins = 0;
  for (const Places& places : groups_of(pointers_to(scores))) {
    std::vector<Ends> ends;
    for (const std::size_t i : places) ends.emplace_back(scores[i]);
    const Group group(rubric, ends);
    for (const Ends& one : ends) wins += group.wins(one);
  }
  return wins;
}

}  // namespace

std::vector<Record> column_records(const Rubric& rubric,
                                   const std::vector<const CellScore*>& column) {
  if (column.empty()) return {};
  const std::size_t others = column.size() - 1;
  Record alone;
  alone.not_comparable = static_cast<int>(others);
  std::vector<Record> records(column.size(), alone);
  for (const Places& places : groups_of(column)) {
    std::vector<Ends> ends;
    for (const std::size_t i : places) ends.emplace_back(*column[i]);
    const Group group(rubric, ends);
    for (std::size_t n = 0; n < places.size(); ++n)
      records[places[n]] = group.record(ends[n], others);
  }
  return records;
}

std::size_t changed_winners(const Rubric& rubric, const std::vector<CellScore>& before,
                            const std::vector<CellScore>& after) {
  Kept kept;
  for (const Places& places : groups_of(pointers_to(before))) {
    std::vector<Both> items;
    for (const std::size_t i : places)
      if (after[i].score) items.emplace_back(Ends(before[i]), Ends(after[i]));
    const Kept found = kept_of(rubric, items);
    kept.again += found.again;
    kept.turned += found.turned;
  }
  // A pair that was won before or afterwards has changed unless it was won by the same both times;
  // one that was turned round is among the wins of both, and is one pair.
  return wins_in(rubric, before) + wins_in(rubric, after) - 2 * kept.again - kept.turned;
}

}  // namespace gauntlet
