// strategy: a bounded heap over one scan of the rows, hypotheses as back-pointers into one trie
// uses: outputs of a call that the model ended are unspecified, here as they were
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <vector>

#include "common.h"

namespace {

constexpr std::int32_t kNone = -1;

struct TrieNode {
  std::int64_t parent;
  std::int32_t token;
};

struct Beam {
  std::int64_t node = kNone;
  std::int64_t length = 0;
  double sum = 0;
  double score = 0;
  std::uint64_t state = 0;
  bool finished = false;
};

/// An extension; `order` is what it is compared by.
struct Option {
  double order;
  double sum;
  std::int64_t rank;
  std::int32_t token;

  bool operator<(const Option& other) const {  // "comes before"
    if (order != other.order) return order > other.order;
    if (rank != other.rank) return rank < other.rank;
    return token < other.token;
  }
};

struct Item {
  std::vector<Beam> beams;
  std::vector<Beam> list;
  std::int64_t steps = 0;
  bool running = true;
};

class Decoder {
 public:
  explicit Decoder(const BeamArgs& args)
      : a_(args), items_(static_cast<std::size_t>(args.batch)), ends_(args.vocab, false) {
    for (std::int64_t i = 0; i < args.eos_count; ++i) ends_[args.eos[i]] = true;
    for (std::int64_t n = 0; n <= args.max_new; ++n) lp_.push_back(penalty(n));
  }

  std::int64_t run() {
    for (std::int64_t b = 0; b < a_.batch; ++b) {
      Item& item = items_[b];
      item.beams.emplace_back();
      item.beams[0].state = a_.root_states[b];
      std::vector<const float*> rows{a_.root_log_probs + b * a_.vocab};
      item.running = a_.max_new > 0;
      if (item.running) advance(item, rows, 1);
    }
    for (std::int64_t t = 2; t <= a_.max_new; ++t)
      if (const std::int64_t status = step(t); status != 0) return status;
    for (std::int64_t b = 0; b < a_.batch; ++b) report(b);
    return BEAM_OK;
  }

 private:
  double penalty(std::int64_t n) const {
    if (a_.penalty == BEAM_PENALTY_NONE) return 1;
    const double base = a_.penalty == BEAM_PENALTY_GNMT ? (5.0 + static_cast<double>(n)) / 6.0
                                                        : static_cast<double>(n);
    return std::pow(base, a_.alpha);
  }

  std::int64_t step(std::int64_t t) {
    std::vector<Beam*> asked;
    for (Item& item : items_)
      if (item.running)
        for (Beam& beam : item.beams)
          if (!beam.finished) asked.push_back(&beam);
    if (asked.empty()) return BEAM_OK;
    std::vector<std::uint64_t> states;
    std::vector<std::int32_t> tokens;
    for (const Beam* beam : asked) {
      states.push_back(beam->state);
      tokens.push_back(trie_[beam->node].token);
    }
    std::vector<std::uint64_t> next(states.size());
    log_probs_.resize(states.size() * a_.vocab);
    BeamStep request{static_cast<std::int64_t>(states.size()), states.data(), tokens.data(),
                     next.data(), log_probs_.data()};
    if (const std::int64_t status = a_.step(a_.model, &request); status != 0) return status;
    for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->state = next[i];
    const float* at = log_probs_.data();
    for (Item& item : items_) {
      if (!item.running) continue;
      std::vector<const float*> rows;
      for (const Beam& beam : item.beams) {
        rows.push_back(beam.finished ? nullptr : at);
        if (!beam.finished) at += a_.vocab;
      }
      advance(item, rows, t);
    }
    return BEAM_OK;
  }

  /// The best options of an item, in order.
  std::vector<Option> best_options(const Item& item, const std::vector<const float*>& rows,
                                   std::int64_t t) const {
    const bool pooled = a_.policy == BEAM_POOLED;
    const std::size_t room = a_.beam * (pooled ? 1 : 1 + a_.eos_count);
    std::priority_queue<Option> kept;  // the worst on top
    const auto offer = [&](const Option& option) {
      if (kept.size() < room) {
        kept.push(option);
      } else if (option < kept.top()) {
        kept.pop();
        kept.push(option);
      }
    };
    for (std::size_t rank = 0; rank < item.beams.size(); ++rank) {
      const Beam& beam = item.beams[rank];
      if (beam.finished) {
        offer({beam.score, beam.sum, static_cast<std::int64_t>(rank), kNone});
        continue;
      }
      for (std::int32_t token = 0; token < a_.vocab; ++token) {
        const float value = rows[rank][token];
        if (value == -HUGE_VALF || (t <= a_.min_new && ends_[token])) continue;
        const double sum = beam.sum + static_cast<double>(value);
        offer({pooled ? sum / lp_[t] : sum, sum, static_cast<std::int64_t>(rank), token});
      }
    }
    std::vector<Option> sorted(kept.size());
    for (std::size_t i = sorted.size(); i-- > 0; kept.pop()) sorted[i] = kept.top();
    return sorted;
  }

  Beam child(const Item& item, const Option& option, std::int64_t t) {
    const Beam& parent = item.beams[option.rank];
    trie_.push_back({parent.node, option.token});
    return {static_cast<std::int64_t>(trie_.size()) - 1,
            t,
            option.sum,
            option.sum / lp_[t],
            parent.state,
            ends_[option.token]};
  }

  void advance(Item& item, const std::vector<const float*>& rows, std::int64_t t) {
    item.steps = t;
    const std::vector<Option> options = best_options(item, rows, t);
    if (a_.policy == BEAM_POOLED)
      fill_slots(item, options, t);
    else
      split(item, options, t);
  }

  void fill_slots(Item& item, const std::vector<Option>& options, std::int64_t t) {
    std::vector<Beam> slots;
    for (const Option& option : options)
      slots.push_back(option.token == kNone ? item.beams[option.rank] : child(item, option, t));
    item.running = false;
    for (const Beam& slot : slots) item.running = item.running || !slot.finished;
    item.beams = std::move(slots);
  }

  void split(Item& item, const std::vector<Option>& options, std::int64_t t) {
    const auto beam = static_cast<std::size_t>(a_.beam);
    std::vector<Beam> open;
    for (std::size_t rank = 0; rank < options.size(); ++rank) {
      const bool ends = ends_[options[rank].token];
      if (ends && rank < beam) keep(item, child(item, options[rank], t));
      if (!ends && open.size() < beam) open.push_back(child(item, options[rank], t));
    }
    item.beams = std::move(open);
    if (t == a_.max_new)
      for (const Beam& one : item.beams) keep(item, one);
    item.running = !item.beams.empty() && t < a_.max_new && !settled(item, t);
  }

  void keep(Item& item, const Beam& beam) {
    const auto better = [](const Beam& x, const Beam& y) { return x.score > y.score; };
    item.list.push_back(beam);
    std::stable_sort(item.list.begin(), item.list.end(), better);
    if (static_cast<std::int64_t>(item.list.size()) > a_.beam) item.list.pop_back();
  }

  bool settled(const Item& item, std::int64_t t) const {
    if (static_cast<std::int64_t>(item.list.size()) < a_.beam) return false;
    if (a_.stop == BEAM_STOP_FULL) return true;
    const std::int64_t at = a_.stop == BEAM_STOP_BOUND && a_.alpha > 0 ? a_.max_new : t;
    return item.list.back().score >= item.beams[0].sum / lp_[at];
  }

  void report(std::int64_t b) const {
    const Item& item = items_[b];
    const bool from_beams = a_.policy == BEAM_POOLED || a_.max_new == 0;
    const std::vector<Beam>& list = from_beams ? item.beams : item.list;
    const auto count = std::min<std::int64_t>(list.size(), a_.n_return);
    a_.hypotheses[b] = static_cast<std::int32_t>(count);
    if (a_.steps) a_.steps[b] = static_cast<std::int32_t>(item.steps);
    for (std::int64_t i = 0; i < a_.n_return; ++i) {
      Beam beam;
      beam.sum = beam.score = -HUGE_VAL;
      if (i < count) beam = list[i];
      const std::int64_t slot = b * a_.n_return + i;
      a_.lengths[slot] = static_cast<std::int32_t>(beam.length);
      a_.finished[slot] = beam.finished;
      a_.log_probs[slot] = beam.sum;
      a_.scores[slot] = beam.score;
      for (std::int64_t at = a_.max_new; at-- > beam.length;)
        a_.tokens[slot * a_.max_new + at] = a_.pad;
      std::int64_t node = beam.node;
      for (std::int64_t at = beam.length; at-- > 0; node = trie_[node].parent)
        a_.tokens[slot * a_.max_new + at] = trie_[node].token;
    }
  }

  const BeamArgs& a_;
  std::vector<Item> items_;
  std::vector<bool> ends_;
  std::vector<double> lp_;
  std::vector<TrieNode> trie_;
  std::vector<float> log_probs_;
};

}  // namespace

extern "C" int64_t beam_search(const BeamArgs* args) {
  if (args->abi_version != BEAM_ABI_VERSION || args->device != BEAM_HOST) return BEAM_UNSUPPORTED;
  if (!sizes_ok(*args) || !kinds_ok(*args)) return BEAM_BAD_ARGUMENT;
  if (!eos_ok(*args)) return BEAM_BAD_ARGUMENT;
  if (args->batch == 0) return BEAM_OK;
  if (!arrays_ok(*args)) return BEAM_BAD_ARGUMENT;
  return Decoder(*args).run();
}
