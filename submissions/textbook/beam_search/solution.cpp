// Beam search, step by step as contract.h describes it. Extensions of an item go into one list of
// which the best are sorted to the front; hypotheses own their tokens.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "contract.h"

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Hypothesis {
  std::vector<std::int32_t> tokens;
  double log_prob = 0;
  double score = 0;
  bool finished = false;
  std::uint64_t state = 0;  // of the model, after all tokens but the last
};

/// A hypothesis that could be formed in this step.
struct Extension {
  double log_prob;
  double score;
  std::size_t parent;
  std::int32_t token;  // kStays: the parent is finished and stays as it is
};
constexpr std::int32_t kStays = -1;

bool by_log_prob(const Extension& a, const Extension& b) {
  if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
  if (a.parent != b.parent) return a.parent < b.parent;
  return a.token < b.token;
}

bool by_score(const Extension& a, const Extension& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.parent != b.parent) return a.parent < b.parent;
  return a.token < b.token;
}

/// The search for one item of the batch.
class ItemSearch {
 public:
  ItemSearch(const BeamArgs& args, std::uint64_t root_state) : args_(args) {
    beams_.resize(1);
    beams_[0].state = root_state;
  }

  bool done() const { return done_; }
  std::int32_t steps() const { return step_; }
  std::vector<Hypothesis>& beams() { return beams_; }

  const std::vector<Hypothesis>& result() const {
    const bool pooled = args_.policy == BEAM_POOLED;
    return pooled || args_.max_new == 0 ? beams_ : finished_;
  }

  /// One step. `rows` holds the log-probs that follow each open hypothesis, in order.
  void advance(const float* rows) {
    ++step_;
    if (args_.policy == BEAM_POOLED)
      advance_pooled(rows);
    else
      advance_separate(rows);
    if (step_ == args_.max_new) done_ = true;
  }

 private:
  double length_penalty(std::int64_t length) const {
    const auto n = static_cast<double>(length);
    switch (args_.penalty) {
      case BEAM_PENALTY_LENGTH:
        return std::pow(n, args_.alpha);
      case BEAM_PENALTY_GNMT:
        return std::pow((5 + n) / 6, args_.alpha);
      default:
        return 1;
    }
  }

  bool is_eos(std::int32_t token) const {
    return std::find(args_.eos, args_.eos + args_.eos_count, token) != args_.eos + args_.eos_count;
  }

  std::vector<Extension> extensions(const float* rows) const {
    std::vector<Extension> all;
    all.reserve(beams_.size() * static_cast<std::size_t>(args_.vocab));
    const double lp = length_penalty(step_);
    for (std::size_t parent = 0; parent < beams_.size(); ++parent) {
      const Hypothesis& from = beams_[parent];
      if (from.finished) {
        all.push_back({from.log_prob, from.score, parent, kStays});
        continue;
      }
      for (std::int32_t token = 0; token < args_.vocab; ++token) {
        const auto value = static_cast<double>(rows[token]);
        if (value == kMinusInfinity) continue;
        if (step_ <= args_.min_new && is_eos(token)) continue;
        const double log_prob = from.log_prob + value;
        all.push_back({log_prob, log_prob / lp, parent, token});
      }
      rows += args_.vocab;
    }
    return all;
  }

  template <class Order>
  static void keep_best(std::vector<Extension>& all, std::int64_t count, Order order) {
    const auto kept = std::min<std::ptrdiff_t>(count, static_cast<std::ptrdiff_t>(all.size()));
    std::partial_sort(all.begin(), all.begin() + kept, all.end(), order);
    all.resize(static_cast<std::size_t>(kept));
  }

  Hypothesis extended(const Extension& by) const {
    Hypothesis next = beams_[by.parent];
    if (by.token == kStays) return next;
    next.tokens.push_back(by.token);
    next.log_prob = by.log_prob;
    next.score = by.score;
    next.finished = is_eos(by.token);
    return next;
  }

  void advance_pooled(const float* rows) {
    std::vector<Extension> best = extensions(rows);
    keep_best(best, args_.beam, by_score);
    std::vector<Hypothesis> slots;
    for (const Extension& one : best) slots.push_back(extended(one));
    beams_ = std::move(slots);
    done_ = std::all_of(beams_.begin(), beams_.end(),
                        [](const Hypothesis& slot) { return slot.finished; });
  }

  void advance_separate(const float* rows) {
    // In each row at most eos_count extensions finish, so that this many hold `beam` open ones.
    std::vector<Extension> best = extensions(rows);
    keep_best(best, args_.beam * (1 + args_.eos_count), by_log_prob);
    const auto beam = static_cast<std::size_t>(args_.beam);
    std::vector<Hypothesis> open;
    for (std::size_t rank = 0; rank < best.size(); ++rank) {
      if (!is_eos(best[rank].token)) {
        if (open.size() < beam) open.push_back(extended(best[rank]));
      } else if (rank < beam) {
        enter_list(extended(best[rank]));
      }
    }
    beams_ = std::move(open);
    if (step_ == args_.max_new)
      for (const Hypothesis& one : beams_) enter_list(one);
    else
      done_ = beams_.empty() || list_is_final();
  }

  void enter_list(const Hypothesis& one) {
    const auto place = std::upper_bound(
        finished_.begin(), finished_.end(), one,
        [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
    finished_.insert(place, one);
    if (finished_.size() > static_cast<std::size_t>(args_.beam)) finished_.pop_back();
  }

  bool list_is_final() const {
    if (finished_.size() < static_cast<std::size_t>(args_.beam)) return false;
    if (args_.stop == BEAM_STOP_FULL) return true;
    const bool to_the_end = args_.stop == BEAM_STOP_BOUND && args_.alpha > 0;
    const double lp = length_penalty(to_the_end ? args_.max_new : step_);
    return finished_.back().score >= beams_.front().log_prob / lp;
  }

  const BeamArgs& args_;
  std::vector<Hypothesis> beams_;     // POOLED: the slots
  std::vector<Hypothesis> finished_;  // SEPARATE: the list
  std::int32_t step_ = 0;
  bool done_ = false;
};

/// Asks the model once for all open hypotheses of all items, and lets the items advance.
std::int64_t advance_all(const BeamArgs& args, std::vector<ItemSearch>& items) {
  std::vector<std::uint64_t> states;
  std::vector<std::int32_t> tokens;
  for (ItemSearch& item : items)
    for (const Hypothesis& one : item.beams())
      if (!item.done() && !one.finished) {
        states.push_back(one.state);
        tokens.push_back(one.tokens.back());
      }
  if (states.empty()) return BEAM_OK;

  std::vector<std::uint64_t> new_states(states.size());
  std::vector<float> log_probs(states.size() * static_cast<std::size_t>(args.vocab));
  BeamStep request{static_cast<std::int64_t>(states.size()), states.data(), tokens.data(),
                   new_states.data(), log_probs.data()};
  if (const std::int64_t status = args.step(args.model, &request); status != 0) return status;

  std::size_t row = 0;
  for (ItemSearch& item : items) {
    if (item.done()) continue;
    const float* first = log_probs.data() + row * static_cast<std::size_t>(args.vocab);
    for (Hypothesis& one : item.beams())
      if (!one.finished) one.state = new_states[row++];
    item.advance(first);
  }
  return BEAM_OK;
}

void write_hypothesis(const BeamArgs& args, const Hypothesis& one, std::int64_t slot) {
  args.lengths[slot] = static_cast<std::int32_t>(one.tokens.size());
  args.finished[slot] = one.finished ? 1 : 0;
  args.log_probs[slot] = one.log_prob;
  args.scores[slot] = one.score;
  if (args.max_new == 0) return;
  std::int32_t* tokens = args.tokens + slot * args.max_new;
  std::fill(std::copy(one.tokens.begin(), one.tokens.end(), tokens), tokens + args.max_new,
            args.pad);
}

void write_item(const BeamArgs& args, const ItemSearch& item, std::int64_t b) {
  Hypothesis absent;
  absent.log_prob = absent.score = kMinusInfinity;
  const std::vector<Hypothesis>& list = item.result();
  const auto count = std::min(static_cast<std::int64_t>(list.size()), args.n_return);
  args.hypotheses[b] = static_cast<std::int32_t>(count);
  if (args.steps != nullptr) args.steps[b] = item.steps();
  for (std::int64_t i = 0; i < args.n_return; ++i)
    write_hypothesis(args, i < count ? list[static_cast<std::size_t>(i)] : absent,
                     b * args.n_return + i);
}

bool sizes_are_valid(const BeamArgs& args) {
  return args.batch >= 0 && args.beam >= 1 && args.vocab >= 1 && args.max_new >= 0 &&
         args.min_new >= 0 && args.min_new <= args.max_new && args.n_return >= 1 &&
         args.n_return <= args.beam && args.eos_count >= 0;
}

bool kinds_are_valid(const BeamArgs& args) {
  return args.num_threads >= 1 && std::isfinite(args.alpha) && args.penalty >= BEAM_PENALTY_NONE &&
         args.penalty <= BEAM_PENALTY_GNMT && args.policy >= BEAM_POOLED &&
         args.policy <= BEAM_SEPARATE && args.stop >= BEAM_STOP_ESTIMATE &&
         args.stop <= BEAM_STOP_BOUND;
}

bool arrays_are_valid(const BeamArgs& args) {
  const void* const needed[] = {args.prompt_lengths, args.root_states, args.root_log_probs,
                                args.hypotheses,     args.lengths,     args.finished,
                                args.log_probs,      args.scores};
  if (std::find(std::begin(needed), std::end(needed), nullptr) != std::end(needed)) return false;
  if (args.max_new > 0 && (args.step == nullptr || args.tokens == nullptr)) return false;
  return args.eos_count == 0 || args.eos != nullptr;
}

bool eos_is_valid(const BeamArgs& args) {
  if (args.eos == nullptr) return true;  // an empty batch may do without it
  return std::all_of(args.eos, args.eos + args.eos_count,
                     [&](std::int32_t token) { return token >= 0 && token < args.vocab; });
}

}  // namespace

extern "C" int64_t beam_search(const BeamArgs* args) {
  if (args->abi_version != BEAM_ABI_VERSION || args->device != BEAM_HOST) return BEAM_UNSUPPORTED;
  if (!sizes_are_valid(*args) || !kinds_are_valid(*args)) return BEAM_BAD_ARGUMENT;
  if (!eos_is_valid(*args)) return BEAM_BAD_ARGUMENT;
  if (args->batch == 0) return BEAM_OK;
  if (!arrays_are_valid(*args)) return BEAM_BAD_ARGUMENT;

  std::vector<ItemSearch> items;
  for (std::int64_t b = 0; b < args->batch; ++b) {
    items.emplace_back(*args, args->root_states[b]);
    if (args->max_new > 0) items.back().advance(args->root_log_probs + b * args->vocab);
  }
  for (std::int64_t t = 2; t <= args->max_new; ++t)
    if (const std::int64_t status = advance_all(*args, items); status != BEAM_OK) return status;
  for (std::int64_t b = 0; b < args->batch; ++b)
    write_item(*args, items[static_cast<std::size_t>(b)], b);
  return BEAM_OK;
}
