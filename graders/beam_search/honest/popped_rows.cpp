// strategy: rows sorted on demand and popped one extension at a time; penalties by exp and log
// uses: score may be off by 1e-9 relative, here with penalties by exp and log, and hypotheses with
// different lp that are as near may change places
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common.h"

namespace {

/// A hypothesis is a chain of links to the ones it grew from.
struct Link {
  std::shared_ptr<const Link> before;
  std::int32_t token = 0;
  std::int64_t length = 0;
  double total = 0;
  double score = 0;
  bool finished = false;

  Link(std::shared_ptr<const Link> from, std::int32_t what)
      : before(std::move(from)), token(what) {}
  Link(const Link&) = default;
  /// Long chains must not be torn down by recursion.
  ~Link() {
    while (before && before.use_count() == 1) {
      auto up = std::const_pointer_cast<Link>(before)->before;
      before = std::move(up);
    }
  }
};
using Chain = std::shared_ptr<const Link>;

struct Live {
  Chain chain;
  std::uint64_t state = 0;
};

/// Hands out the tokens of a row from the best to the worst, sorting no more than it must.
class RowCursor {
 public:
  /// The row of a hypothesis of this log-prob. What is handed out in order are sums over `lp`,
  /// which may be equal where the log-probs are not.
  RowCursor(const float* row, std::vector<std::int32_t> tokens, double before, double lp)
      : row_(row), tokens_(std::move(tokens)), before_(before), lp_(lp) {}

  std::optional<std::int32_t> peek() {
    if (at_ == tokens_.size()) return std::nullopt;
    if (at_ == sorted_) sort_more();
    return tokens_[at_];
  }
  void pop() { ++at_; }
  double total(std::int32_t token) const { return before_ + static_cast<double>(row_[token]); }
  double key(std::int32_t token) const { return total(token) / lp_; }

 private:
  void sort_more() {
    sorted_ = std::min(tokens_.size(), sorted_ + std::max<std::size_t>(8, sorted_));
    std::partial_sort(tokens_.begin() + static_cast<std::ptrdiff_t>(at_),
                      tokens_.begin() + static_cast<std::ptrdiff_t>(sorted_), tokens_.end(),
                      [this](std::int32_t x, std::int32_t y) {
                        const double key_x = key(x);
                        const double key_y = key(y);
                        return key_x != key_y ? key_x > key_y : x < y;
                      });
  }

  const float* row_;
  std::vector<std::int32_t> tokens_;
  double before_;
  double lp_;
  std::size_t at_ = 0;
  std::size_t sorted_ = 0;
};

class ItemSearch {
 public:
  ItemSearch(const BeamArgs& args, std::uint64_t root) : a(args) {
    live.push_back({std::make_shared<Link>(nullptr, -1), root});
    over = a.max_new == 0;
  }

  std::vector<Live> live;  // pooled: the slots
  std::vector<Chain> list;
  std::int64_t t = 0;
  bool over;

  bool wants(const Live& one) const { return !over && !one.chain->finished; }

  /// Takes the log-probs of the wanted hypotheses, in order.
  void feed(const std::vector<const float*>& rows) {
    ++t;
    if (a.policy == BEAM_POOLED)
      feed_pool(rows);
    else
      feed_separate(rows);
    over = over || t == a.max_new;
  }

 private:
  double lp(std::int64_t n) const {
    if (a.penalty == BEAM_PENALTY_NONE) return 1;
    const auto x = static_cast<double>(n);
    return std::exp(a.alpha * std::log(a.penalty == BEAM_PENALTY_LENGTH ? x : (5 + x) / 6));
  }

  bool ends(std::int32_t token) const {
    return std::find(a.eos, a.eos + a.eos_count, token) != a.eos + a.eos_count;
  }

  RowCursor cursor(const float* row, const Live& of) const {
    std::vector<std::int32_t> tokens;
    for (std::int32_t token = 0; token < a.vocab; ++token)
      if (std::isfinite(row[token])) tokens.push_back(token);
    if (t <= a.min_new) std::erase_if(tokens, [this](std::int32_t token) { return ends(token); });
    return {row, std::move(tokens), of.chain->total, a.policy == BEAM_POOLED ? lp(t) : 1};
  }

  Live grown(const Live& from, std::int32_t token, double total) const {
    auto link = std::make_shared<Link>(from.chain, token);
    link->length = t;
    link->total = total;
    link->score = total / lp(t);
    link->finished = ends(token);
    return {link, from.state};
  }

  /// The best extension that is left, as the hypothesis that it makes, and where it came from.
  struct Next {
    std::size_t from;
    std::int32_t token;
    double total;
    double key;
  };
  std::optional<Next> next(std::vector<RowCursor>& cursors, const std::vector<std::size_t>& owner) {
    std::optional<Next> best;
    std::size_t best_cursor = 0;
    for (std::size_t i = 0; i < cursors.size(); ++i)
      if (const auto token = cursors[i].peek()) {
        const double key = cursors[i].key(*token);
        if (best && key <= best->key) continue;
        best = Next{owner[i], *token, cursors[i].total(*token), key};
        best_cursor = i;
      }
    if (best) cursors[best_cursor].pop();
    return best;
  }

  void open_cursors(const std::vector<const float*>& rows, std::vector<RowCursor>& cursors,
                    std::vector<std::size_t>& owner) const {
    for (std::size_t i = 0; i < live.size(); ++i)
      if (!live[i].chain->finished) {
        cursors.push_back(cursor(rows[cursors.size()], live[i]));
        owner.push_back(i);
      }
  }

  /// Extensions and finished slots are merged as two sorted lists.
  void feed_pool(const std::vector<const float*>& rows) {
    std::vector<RowCursor> cursors;
    std::vector<std::size_t> owner;
    open_cursors(rows, cursors, owner);
    std::vector<std::size_t> resting;
    for (std::size_t i = 0; i < live.size(); ++i)
      if (live[i].chain->finished) resting.push_back(i);
    std::vector<Live> slots;
    std::optional<Next> fresh = next(cursors, owner);
    for (std::size_t rest = 0; static_cast<std::int64_t>(slots.size()) < a.beam;) {
      const bool may_rest = rest < resting.size();
      if (!may_rest && !fresh) break;
      bool take_rest = may_rest;
      if (may_rest && fresh) {
        const double old_score = live[resting[rest]].chain->score;
        take_rest = old_score != fresh->key ? old_score > fresh->key : resting[rest] < fresh->from;
      }
      if (take_rest) {
        slots.push_back(live[resting[rest++]]);
      } else {
        slots.push_back(grown(live[fresh->from], fresh->token, fresh->total));
        fresh = next(cursors, owner);
      }
    }
    live = std::move(slots);
    over = std::none_of(live.begin(), live.end(),
                        [](const Live& one) { return !one.chain->finished; });
  }

  void feed_separate(const std::vector<const float*>& rows) {
    std::vector<RowCursor> cursors;
    std::vector<std::size_t> owner;
    open_cursors(rows, cursors, owner);
    std::vector<Live> open;
    for (std::int64_t rank = 0; static_cast<std::int64_t>(open.size()) < a.beam; ++rank) {
      const auto fresh = next(cursors, owner);
      if (!fresh) break;
      if (!ends(fresh->token))
        open.push_back(grown(live[fresh->from], fresh->token, fresh->total));
      else if (rank < a.beam)
        enlist(grown(live[fresh->from], fresh->token, fresh->total).chain);
    }
    live = std::move(open);
    if (t == a.max_new)
      for (const Live& one : live) enlist(one.chain);
    over = live.empty() || unbeatable();
  }

  void enlist(const Chain& chain) {
    const auto place = std::find_if(
        list.begin(), list.end(), [&](const Chain& other) { return other->score < chain->score; });
    list.insert(place, chain);
    if (static_cast<std::int64_t>(list.size()) > a.beam) list.pop_back();
  }

  bool unbeatable() const {
    if (static_cast<std::int64_t>(list.size()) < a.beam) return false;
    const std::int64_t n = a.stop == BEAM_STOP_BOUND && a.alpha > 0 ? a.max_new : t;
    return a.stop == BEAM_STOP_FULL || list.back()->score >= live[0].chain->total / lp(n);
  }

  const BeamArgs& a;
};

void report(const BeamArgs& a, const ItemSearch& item, std::int64_t b) {
  std::vector<Chain> result = item.list;
  if (a.policy == BEAM_POOLED || a.max_new == 0)
    for (const Live& one : item.live) result.push_back(one.chain);
  result.resize(std::min<std::size_t>(result.size(), static_cast<std::size_t>(a.n_return)));
  a.hypotheses[b] = static_cast<std::int32_t>(result.size());
  if (a.steps) a.steps[b] = static_cast<std::int32_t>(item.t);
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.n_return); ++i) {
    const auto slot = static_cast<std::size_t>(b * a.n_return) + i;
    const Link* link = i < result.size() ? result[i].get() : nullptr;
    a.lengths[slot] = link ? static_cast<std::int32_t>(link->length) : 0;
    a.finished[slot] = link ? link->finished : 0;
    a.log_probs[slot] = link ? link->total : -HUGE_VAL;
    a.scores[slot] = link ? link->score : -HUGE_VAL;
    if (a.max_new == 0) continue;
    std::int32_t* tokens = a.tokens + slot * static_cast<std::size_t>(a.max_new);
    std::fill_n(tokens, a.max_new, a.pad);
    for (; link && link->length > 0; link = link->before.get())
      tokens[link->length - 1] = link->token;
  }
}

std::int64_t search(const BeamArgs& a) {
  std::vector<ItemSearch> items;
  for (std::int64_t b = 0; b < a.batch; ++b) {
    items.emplace_back(a, a.root_states[b]);
    if (a.max_new > 0) items.back().feed({a.root_log_probs + b * a.vocab});
  }
  std::vector<float> answer;
  for (;;) {
    std::vector<std::uint64_t> states;
    std::vector<std::int32_t> tokens;
    for (const ItemSearch& item : items)
      for (const Live& one : item.live)
        if (item.wants(one)) {
          states.push_back(one.state);
          tokens.push_back(one.chain->token);
        }
    if (states.empty()) break;
    std::vector<std::uint64_t> after(states.size());
    answer.resize(states.size() * static_cast<std::size_t>(a.vocab));
    BeamStep step{static_cast<std::int64_t>(states.size()), states.data(), tokens.data(),
                  after.data(), answer.data()};
    if (const std::int64_t status = a.step(a.model, &step)) return status;
    std::size_t row = 0;
    for (ItemSearch& item : items) {
      std::vector<const float*> rows;
      for (Live& one : item.live)
        if (item.wants(one)) {
          one.state = after[row];
          rows.push_back(answer.data() + row * static_cast<std::size_t>(a.vocab));
          ++row;
        }
      if (!rows.empty()) item.feed(rows);
    }
  }
  for (std::int64_t b = 0; b < a.batch; ++b) report(a, items[static_cast<std::size_t>(b)], b);
  return BEAM_OK;
}

}  // namespace

extern "C" int64_t beam_search(const BeamArgs* args) {
  if (args->abi_version != BEAM_ABI_VERSION || args->device != BEAM_HOST) return BEAM_UNSUPPORTED;
  if (!sizes_ok(*args) || !kinds_ok(*args)) return BEAM_BAD_ARGUMENT;
  if (!eos_ok(*args) || (args->batch > 0 && !arrays_ok(*args))) return BEAM_BAD_ARGUMENT;
  return search(*args);
}
