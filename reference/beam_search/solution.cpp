// uses: outputs of a call that the model ended are unspecified, here as they were
// SPDX-License-Identifier: Apache-2.0
// Beam search that reads every log-probability once: selection.h says how. Here is what a step does
// with the best extensions under either policy, and what it asks of the model.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "arguments.h"
#include "contract.h"
#include "hypothesis.h"
#include "selection.h"

namespace {

class Search {
 public:
  explicit Search(const BeamArgs& args)
      : args_(args),
        pooled_(args.policy == BEAM_POOLED),
        selection_(args),
        items_(static_cast<std::size_t>(args.batch)) {}

  std::int64_t run() {
    for (std::int64_t b = 0; b < args_.batch; ++b)
      items_[at(b)].open.push_back({-1, 0, 0, 0, args_.root_states[b], false});
    for (std::int64_t t = 1; t <= args_.max_new; ++t) {
      if (t == 1)
        take_roots();
      else if (const std::int64_t status = ask_model(); status != 0)
        return status;
      if (rows_.empty()) break;
      lp_ = penalty(args_, t);
      selection_.find_maxima(rows_, t, lp_);
      for (Item& item : items_)
        if (!item.done) advance(item, t);
    }
    for (std::int64_t b = 0; b < args_.batch; ++b) write(b);
    return BEAM_OK;
  }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  void take_roots() {
    const std::int64_t blocks = selection_.blocks();
    maxima_.resize(at(args_.batch * blocks));
    for (std::int64_t b = 0; b < args_.batch; ++b) {
      Item& item = items_[at(b)];
      item.rows.push_back({0, 0, args_.root_log_probs + b * args_.vocab, &maxima_[at(b * blocks)]});
      rows_.push_back(&item.rows.back());
    }
  }

  /// One request for all open hypotheses of the batch.
  std::int64_t ask_model() {
    states_.clear();
    tokens_.clear();
    for (const Item& item : items_)
      for (const Hypothesis& one : item.open)
        if (!item.done && !one.finished) {
          states_.push_back(one.state);
          tokens_.push_back(item.nodes[at(one.node)].token);
        }
    rows_.clear();
    if (states_.empty()) return BEAM_OK;
    const auto count = static_cast<std::int64_t>(states_.size());
    new_states_.resize(states_.size());
    maxima_.resize(at(count * selection_.blocks()));
    float* log_probs = room_for(at(count * args_.vocab));
    BeamStep step{count, states_.data(), tokens_.data(), new_states_.data(), log_probs};
    if (const std::int64_t status = args_.step(args_.model, &step); status != 0) return status;
    std::int64_t next = 0;
    for (Item& item : items_)
      if (!item.done) hand_out(item, log_probs, next);
    return BEAM_OK;
  }

  void hand_out(Item& item, const float* log_probs, std::int64_t& next) {
    item.rows.clear();
    for (std::size_t rank = 0; rank < item.open.size(); ++rank) {
      Hypothesis& one = item.open[rank];
      if (one.finished) continue;
      one.state = new_states_[at(next)];
      item.rows.push_back({one.log_prob, static_cast<std::int64_t>(rank),
                           log_probs + next * args_.vocab,
                           &maxima_[at(next * selection_.blocks())]});
      ++next;
    }
    for (Row& row : item.rows) rows_.push_back(&row);
  }

  /// Kept between calls: fresh pages for a few MiB cost more than the search itself.
  static float* room_for(std::size_t count) {
    thread_local std::unique_ptr<float[]> room;
    thread_local std::size_t size = 0;
    if (size < count) {
      room.reset();
      room.reset(new float[count]);
      size = count;
    }
    return room.get();
  }

  Hypothesis extended(Item& item, const Extension& by, std::int64_t t) const {
    const Hypothesis& parent = item.open[at(by.rank)];
    item.nodes.push_back({parent.node, by.token});
    Hypothesis child;
    child.node = static_cast<std::int64_t>(item.nodes.size()) - 1;
    child.length = t;
    child.log_prob = by.log_prob;
    child.score = by.log_prob / lp_;
    child.state = parent.state;
    child.finished = is_eos(args_, by.token);
    return child;
  }

  void advance(Item& item, std::int64_t t) {
    item.steps = t;
    std::vector<Extension>& best = selection_.find_best(item);
    if (pooled_)
      advance_pool(item, best, t);
    else
      advance_separate(item, best, t);
    if (t == args_.max_new) item.done = true;
  }

  void advance_pool(Item& item, std::vector<Extension>& best, std::int64_t t) {
    for (std::size_t slot = 0; slot < item.open.size(); ++slot)
      if (item.open[slot].finished)
        best.push_back({item.open[slot].score, 0, static_cast<std::int64_t>(slot), -1});
    selection_.keep_best(best);
    std::vector<Hypothesis> slots;
    for (const Extension& one : best)
      slots.push_back(one.token < 0 ? item.open[at(one.rank)] : extended(item, one, t));
    item.open = std::move(slots);
    item.done = std::all_of(item.open.begin(), item.open.end(),
                            [](const Hypothesis& slot) { return slot.finished; });
  }

  void advance_separate(Item& item, std::vector<Extension>& best, std::int64_t t) {
    selection_.keep_best(best);
    const auto beam = at(args_.beam);
    std::vector<Hypothesis> open;
    for (std::size_t rank = 0; rank < best.size() && open.size() < beam; ++rank) {
      const bool ends = is_eos(args_, best[rank].token);
      if (ends && rank >= beam) continue;
      const Hypothesis child = extended(item, best[rank], t);
      if (ends)
        enter(item.finished, child);
      else
        open.push_back(child);
    }
    item.open = std::move(open);
    if (t == args_.max_new)
      for (const Hypothesis& one : item.open) enter(item.finished, one);
    else
      item.done = item.open.empty() || (item.finished.size() == beam && list_is_final(item));
  }

  bool list_is_final(const Item& item) const {
    if (args_.stop == BEAM_STOP_FULL) return true;
    const bool to_the_end = args_.stop == BEAM_STOP_BOUND && args_.alpha > 0;
    const double hope =
        item.open.front().log_prob / (to_the_end ? penalty(args_, args_.max_new) : lp_);
    return item.finished.back().score >= hope;
  }

  void enter(std::vector<Hypothesis>& list, const Hypothesis& one) const {
    const auto place = std::upper_bound(
        list.begin(), list.end(), one,
        [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
    list.insert(place, one);
    if (list.size() > at(args_.beam)) list.pop_back();
  }

  void write(std::int64_t b) const {
    const Item& item = items_[at(b)];
    const auto& list = pooled_ || args_.max_new == 0 ? item.open : item.finished;
    const std::int64_t count =
        std::min<std::int64_t>(static_cast<std::int64_t>(list.size()), args_.n_return);
    args_.hypotheses[b] = static_cast<std::int32_t>(count);
    if (args_.steps != nullptr) args_.steps[b] = static_cast<std::int32_t>(item.steps);
    for (std::int64_t i = 0; i < args_.n_return; ++i) {
      const std::int64_t slot = b * args_.n_return + i;
      Hypothesis one;
      one.log_prob = one.score = -HUGE_VAL;
      if (i < count) one = list[at(i)];
      args_.lengths[slot] = static_cast<std::int32_t>(one.length);
      args_.finished[slot] = one.finished ? 1 : 0;
      args_.log_probs[slot] = one.log_prob;
      args_.scores[slot] = one.score;
      if (args_.max_new == 0) continue;
      std::int32_t* tokens = args_.tokens + slot * args_.max_new;
      std::fill(tokens + one.length, tokens + args_.max_new, args_.pad);
      for (std::int64_t node = one.node, place = one.length; node >= 0;
           node = item.nodes[at(node)].parent)
        tokens[--place] = item.nodes[at(node)].token;
    }
  }

  const BeamArgs& args_;
  const bool pooled_;
  Selection selection_;
  double lp_ = 1;  // of this step's extensions
  std::vector<Item> items_;
  std::vector<Row*> rows_;  // of this step, all items'
  std::vector<float> maxima_;
  std::vector<std::uint64_t> states_;
  std::vector<std::uint64_t> new_states_;
  std::vector<std::int32_t> tokens_;
};

}  // namespace

extern "C" int64_t beam_search(const BeamArgs* args) {
  if (args->abi_version != BEAM_ABI_VERSION || args->device != BEAM_HOST) return BEAM_UNSUPPORTED;
  if (!sizes_are_valid(*args) || !kinds_are_valid(*args)) return BEAM_BAD_ARGUMENT;
  if (!eos_is_valid(*args)) return BEAM_BAD_ARGUMENT;
  if (args->batch == 0) return BEAM_OK;
  if (!pointers_are_valid(*args)) return BEAM_BAD_ARGUMENT;
  return Search(*args).run();
}
