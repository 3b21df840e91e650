// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A hypothesis during the search, and where it stood before the step.
struct Entry {
  Hypothesis hypothesis;
  Context context;
  std::int64_t origin = 0;  // rank or slot of the hypothesis that it extends
  std::int32_t token = -1;  // what was added; -1: nothing
};

bool is_eos(const Settings& settings, std::int32_t token) {
  return std::find(settings.eos.begin(), settings.eos.end(), token) != settings.eos.end();
}

class Search {
 public:
  Search(const Settings& settings, const Language& language, std::int64_t item)
      : settings_(settings), language_(language), row_(static_cast<std::size_t>(settings.vocab)) {
    state_.push_back({{}, root_of(item), 0, -1});
  }

  Expected run() {
    bool done = settings_.max_new == 0;
    while (!done) {
      ++result_.steps;
      done = settings_.policy == BEAM_POOLED ? pooled_step() : separate_step();
      done = done || result_.steps == settings_.max_new;
    }
    if (settings_.policy == BEAM_POOLED || settings_.max_new == 0) list_ = state_;
    for (const Entry& entry : list_)
      if (std::ssize(result_.best) < settings_.n_return) result_.best.push_back(entry.hypothesis);
    return std::move(result_);
  }

 private:
  std::int64_t step() const { return result_.steps; }

  double lp_of(const Entry& entry) const {
    return length_penalty(settings_, std::ssize(entry.hypothesis.tokens));
  }

  /// What a hypothesis is ranked by, and what that comes from.
  struct Rating {
    double log_prob;
    double lp;
    double score = log_prob / lp;
  };
  Rating rating_of(const Entry& entry) const { return {entry.hypothesis.log_prob, lp_of(entry)}; }

  /// True when a is better than b; remembers when rounding could say otherwise.
  bool better(const Rating& a, const Rating& b) {
    const double apart = std::abs(a.score - b.score);
    const double size = std::max(std::abs(a.score), std::abs(b.score));
    if (size > 0 && apart <= room_for_rounding(a, b, size)) result_.close_call = true;
    return a.score > b.score;
  }
  bool better(const Entry& a, const Entry& b) { return better(rating_of(a), rating_of(b)); }

  /// Scores of one lp hang on its last bits only, which are anybody's, and not even on them where
  /// the sums are equal or lp is 1. Negative: rounding decides nothing.
  static double room_for_rounding(const Rating& a, const Rating& b, double size) {
    if (a.lp != b.lp) return 1e-9 * size;
    if (a.lp == 1 || a.log_prob == b.log_prob) return -1;
    return 0x1p-49 * size + 4 * std::numeric_limits<double>::denorm_min();
  }

  /// The tokens of row_, `of`'s, that are possible, as far as they matter.
  std::vector<std::int32_t> possible_tokens(const Hypothesis& of) const {
    std::vector<std::int32_t> tokens;
    for (std::int32_t token = 0; token < std::ssize(row_); ++token) {
      if (row_[static_cast<std::size_t>(token)] == kForbidden) continue;
      if (step() <= settings_.min_new && is_eos(settings_, token)) continue;
      tokens.push_back(token);
    }
    return settings_.vocab <= kLongRow ? tokens : shortlisted(of, tokens);
  }

  /// Of many tokens those that can be among the first beam * (1 + eos) of the item, by what the
  /// extensions are ordered by: equal sums and scores may come of different numbers.
  std::vector<std::int32_t> shortlisted(const Hypothesis& of,
                                        const std::vector<std::int32_t>& tokens) const {
    const double lp = settings_.policy == BEAM_POOLED ? length_penalty(settings_, step()) : 1;
    const auto value_of = [&](std::int32_t token) {
      return (of.log_prob + static_cast<double>(row_[static_cast<std::size_t>(token)])) / lp;
    };
    const auto keep = static_cast<std::size_t>(settings_.beam * (1 + std::ssize(settings_.eos)));
    if (tokens.size() <= keep) return tokens;
    std::vector<double> values;
    for (const std::int32_t token : tokens) values.push_back(value_of(token));
    const auto last = values.begin() + static_cast<std::ptrdiff_t>(keep) - 1;
    std::nth_element(values.begin(), last, values.end(), std::greater<>());
    auto equals = keep - static_cast<std::size_t>(std::count_if(
                             values.begin(), last, [&](double value) { return value > *last; }));
    std::vector<std::int32_t> kept;
    for (const std::int32_t token : tokens)
      if (value_of(token) > *last || (value_of(token) == *last && equals > 0 && equals-- > 0))
        kept.push_back(token);
    return kept;
  }

  Entry extension(const Entry& of, std::int64_t origin, std::int32_t token) const {
    Entry entry{of.hypothesis, of.context.extended(token), origin, token};
    entry.hypothesis.tokens.push_back(token);
    entry.hypothesis.finished = is_eos(settings_, token);
    entry.hypothesis.log_prob += static_cast<double>(row_[static_cast<std::size_t>(token)]);
    entry.hypothesis.score = entry.hypothesis.log_prob / lp_of(entry);
    return entry;
  }

  /// Every extension of every open hypothesis, and finished ones as they are.
  std::vector<Entry> candidates() {
    std::vector<Entry> all;
    for (std::int64_t origin = 0; origin < std::ssize(state_); ++origin) {
      const Entry& entry = state_[static_cast<std::size_t>(origin)];
      if (entry.hypothesis.finished) {
        all.push_back(entry);
        all.back().origin = origin;
        all.back().token = -1;
        continue;
      }
      if (step() > 1) ++result_.rows;
      language_(entry.context, row_);
      for (const std::int32_t token : possible_tokens(entry.hypothesis))
        all.push_back(extension(entry, origin, token));
    }
    return all;
  }

  bool pooled_step() {
    std::vector<Entry> all = candidates();
    std::sort(all.begin(), all.end(), [this](const Entry& a, const Entry& b) {
      if (better(a, b)) return true;
      if (better(b, a)) return false;
      return a.origin != b.origin ? a.origin < b.origin : a.token < b.token;
    });
    if (std::ssize(all) > settings_.beam) all.resize(static_cast<std::size_t>(settings_.beam));
    state_ = std::move(all);
    return std::all_of(state_.begin(), state_.end(),
                       [](const Entry& entry) { return entry.hypothesis.finished; });
  }

  bool separate_step() {
    std::vector<Entry> all = candidates();
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
      if (a.hypothesis.log_prob != b.hypothesis.log_prob)
        return a.hypothesis.log_prob > b.hypothesis.log_prob;
      return a.origin != b.origin ? a.origin < b.origin : a.token < b.token;
    });
    state_.clear();
    for (std::int64_t rank = 0; rank < std::ssize(all); ++rank) {
      Entry& entry = all[static_cast<std::size_t>(rank)];
      if (!entry.hypothesis.finished) {
        if (std::ssize(state_) < settings_.beam) state_.push_back(std::move(entry));
      } else if (rank < settings_.beam) {
        enter_list(std::move(entry));
      }
    }
    if (step() == settings_.max_new) {
      for (Entry& entry : state_) enter_list(std::move(entry));
      return true;
    }
    return state_.empty() || list_says_done();
  }

  void enter_list(Entry entry) {
    auto at = list_.end();
    while (at != list_.begin() && better(entry, *std::prev(at))) --at;
    list_.insert(at, std::move(entry));
    if (std::ssize(list_) > settings_.beam) list_.pop_back();
  }

  bool list_says_done() {
    if (std::ssize(list_) < settings_.beam) return false;
    if (settings_.stop == BEAM_STOP_FULL) return true;
    const bool to_the_end = settings_.stop == BEAM_STOP_BOUND && settings_.alpha > 0;
    const double lp = length_penalty(settings_, to_the_end ? settings_.max_new : step());
    return !better(Rating{state_.front().hypothesis.log_prob, lp}, rating_of(list_.back()));
  }

  const Settings& settings_;
  const Language& language_;
  std::vector<float> row_;
  std::vector<Entry> state_;  // SEPARATE: open hypotheses; POOLED: the slots
  std::vector<Entry> list_;   // SEPARATE: the finished ones
  Expected result_;
};

}  // namespace

double length_penalty(const Settings& settings, std::int64_t length) {
  const auto n = static_cast<double>(length);
  switch (settings.penalty) {
    case BEAM_PENALTY_LENGTH:
      return std::pow(n, settings.alpha);
    case BEAM_PENALTY_GNMT:
      return std::pow((5 + n) / 6, settings.alpha);
    default:
      return 1;
  }
}

bool same_result(const Expected& a, const Expected& b) {
  return a.steps == b.steps && std::ranges::equal(a.best, b.best, [](const auto& x, const auto& y) {
           return x.tokens == y.tokens && x.score == y.score;
         });
}

Expected decode(const Settings& settings, const Language& language, std::int64_t item) {
  return Search(settings, language, item).run();
}

std::vector<Expected> expect(const Problem& problem) {
  std::vector<Expected> all;
  for (std::int64_t item = 0; item < problem.batch(); ++item)
    all.push_back(decode(problem.settings, problem.language, item));
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
