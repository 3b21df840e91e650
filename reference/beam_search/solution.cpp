// Beam search that reads every log-probability once.
//
// A step needs the best M of the batch's rows * vocab extensions, item by item. One pass over the
// rows takes the maximum of each block of 512 tokens, on all threads and at memory speed. At least
// M extensions reach the M-th largest maximum, so that only blocks that reach it can hold one of
// the best M: these few are read again, and what reaches the threshold is sorted. Hypotheses are
// back-pointers into a list of (parent, token) that only grows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "contract.h"

namespace {

constexpr std::int64_t kBlock = 512;             // tokens
constexpr std::int64_t kWorthThreads = 1 << 16;  // log-probs in a step
constexpr float kNever = -std::numeric_limits<float>::infinity();

constexpr std::int64_t kLanes = 16;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

Lanes load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

Lanes larger(Lanes a, Lanes b) {
  return a > b ? a : b;
}

float maximum(const float* values, std::int64_t count) {
  float best = kNever;
  std::int64_t i = 0;
  if (count >= 4 * kLanes) {
    Lanes sums[4];
    for (int chain = 0; chain < 4; ++chain) sums[chain] = load(values + chain * kLanes);
    for (i = 4 * kLanes; i + 4 * kLanes <= count; i += 4 * kLanes)
      for (int chain = 0; chain < 4; ++chain)
        sums[chain] = larger(sums[chain], load(values + i + chain * kLanes));
    const Lanes all = larger(larger(sums[0], sums[1]), larger(sums[2], sums[3]));
    for (int lane = 0; lane < kLanes; ++lane) best = std::max(best, all[lane]);
  }
  for (; i < count; ++i) best = std::max(best, values[i]);
  return best;
}

struct Node {
  std::int64_t parent;
  std::int32_t token;
};

struct Hypothesis {
  std::int64_t node = -1;  // -1: no token yet
  std::int64_t length = 0;
  double log_prob = 0;
  double score = 0;
  std::uint64_t state = 0;
  bool finished = false;
};

struct Extension {
  double key;  // what extensions are ordered by
  double log_prob;
  std::int64_t rank;
  std::int32_t token;  // -1: a finished slot as it is
};

bool before(const Extension& a, const Extension& b) {
  if (a.key != b.key) return a.key > b.key;
  return a.rank != b.rank ? a.rank < b.rank : a.token < b.token;
}

/// An open hypothesis and the log-probs of its extensions.
struct Row {
  double base;
  std::int64_t rank;
  const float* log_probs;
  float* maxima;  // of its blocks
};

struct Item {
  std::vector<Node> nodes;
  std::vector<Hypothesis> open;      // POOLED: the slots, finished ones as well
  std::vector<Hypothesis> finished;  // SEPARATE
  std::vector<Row> rows;
  std::int64_t steps = 0;
  bool done = false;
};

class Search {
 public:
  explicit Search(const BeamArgs& args)
      : args_(args),
        pooled_(args.policy == BEAM_POOLED),
        blocks_((args.vocab + kBlock - 1) / kBlock),
        wanted_(pooled_ ? args.beam : args.beam * (1 + args.eos_count)),
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
      lp_ = penalty(t);
      find_maxima(t);
      for (Item& item : items_)
        if (!item.done) advance(item, t);
    }
    for (std::int64_t b = 0; b < args_.batch; ++b) write(b);
    return BEAM_OK;
  }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  double penalty(std::int64_t length) const {
    const auto n = static_cast<double>(length);
    if (args_.penalty == BEAM_PENALTY_LENGTH) return std::pow(n, args_.alpha);
    if (args_.penalty == BEAM_PENALTY_GNMT) return std::pow((5 + n) / 6, args_.alpha);
    return 1;
  }

  bool is_eos(std::int32_t token) const {
    return std::find(args_.eos, args_.eos + args_.eos_count, token) != args_.eos + args_.eos_count;
  }

  void take_roots() {
    maxima_.resize(at(args_.batch * blocks_));
    for (std::int64_t b = 0; b < args_.batch; ++b) {
      Item& item = items_[at(b)];
      item.rows.push_back(
          {0, 0, args_.root_log_probs + b * args_.vocab, &maxima_[at(b * blocks_)]});
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
    maxima_.resize(at(count * blocks_));
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
                           log_probs + next * args_.vocab, &maxima_[at(next * blocks_)]});
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

  void find_maxima(std::int64_t t) {
    const auto rows = static_cast<std::int64_t>(rows_.size());
    const std::int64_t all = rows * blocks_;
    [[maybe_unused]] const bool many = all * kBlock >= kWorthThreads && args_.num_threads > 1;
#pragma omp parallel for schedule(static) num_threads(args_.num_threads) if (many)
    for (std::int64_t i = 0; i < all; ++i) {
      const std::int64_t block = i % blocks_;
      Row& row = *rows_[at(i / blocks_)];
      const std::int64_t first = block * kBlock;
      row.maxima[block] = maximum(row.log_probs + first, std::min(kBlock, args_.vocab - first));
    }
    if (t <= args_.min_new)
      for (Row* row : rows_) forget_eos(*row);
  }

  /// Maxima of the blocks with an EOS token, without it.
  void forget_eos(Row& row) const {
    for (std::int64_t i = 0; i < args_.eos_count; ++i) {
      const std::int64_t block = args_.eos[i] / kBlock;
      float best = kNever;
      for (std::int64_t token = block * kBlock; token < block_end(block); ++token)
        if (!is_eos(static_cast<std::int32_t>(token))) best = std::max(best, row.log_probs[token]);
      row.maxima[block] = best;
    }
  }

  std::int64_t block_end(std::int64_t block) const {
    return std::min((block + 1) * kBlock, args_.vocab);
  }

  double key_of(double log_prob) const {
    return pooled_ ? log_prob / lp_ : log_prob;
  }

  /// A key that at least `wanted_` extensions of the item reach, when there are so many.
  double threshold(const Item& item) {
    keys_.clear();
    for (const Row& row : item.rows)
      for (std::int64_t block = 0; block < blocks_; ++block)
        keys_.push_back(key_of(row.base + static_cast<double>(row.maxima[block])));
    if (static_cast<std::int64_t>(keys_.size()) < wanted_) return -HUGE_VAL;
    const auto nth = keys_.begin() + (wanted_ - 1);
    std::nth_element(keys_.begin(), nth, keys_.end(), std::greater<>());
    return *nth;
  }

  /// The best extensions of the item, in order; `wanted_` of them or more, if there are.
  void find_best(const Item& item, std::int64_t t) {
    const double least = threshold(item);
    std::int64_t ties = 0;  // they are met in their order: later ones than `wanted_` cannot stay
    best_.clear();
    for (const Row& row : item.rows)
      for (std::int64_t block = 0; block < blocks_; ++block)
        if (row.maxima[block] != kNever &&
            key_of(row.base + static_cast<double>(row.maxima[block])) >= least)
          search_block(row, block, t, least, ties);
  }

  void search_block(const Row& row, std::int64_t block, std::int64_t t, double least,
                    std::int64_t& ties) {
    for (std::int64_t token = block * kBlock; token < block_end(block); ++token) {
      const float value = row.log_probs[token];
      const double log_prob = row.base + static_cast<double>(value);
      const double key = key_of(log_prob);
      if (!(key >= least) || value == kNever) continue;
      if (t <= args_.min_new && is_eos(static_cast<std::int32_t>(token))) continue;
      if (key == least && ++ties > wanted_) continue;
      best_.push_back({key, log_prob, row.rank, static_cast<std::int32_t>(token)});
    }
  }

  void keep_best() {
    const auto kept = std::min<std::size_t>(best_.size(), at(wanted_));
    std::partial_sort(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(kept), best_.end(),
                      before);
    best_.resize(kept);
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
    child.finished = is_eos(by.token);
    return child;
  }

  void advance(Item& item, std::int64_t t) {
    item.steps = t;
    find_best(item, t);
    if (pooled_)
      advance_pool(item, t);
    else
      advance_separate(item, t);
    if (t == args_.max_new) item.done = true;
  }

  void advance_pool(Item& item, std::int64_t t) {
    for (std::size_t slot = 0; slot < item.open.size(); ++slot)
      if (item.open[slot].finished)
        best_.push_back({item.open[slot].score, 0, static_cast<std::int64_t>(slot), -1});
    keep_best();
    std::vector<Hypothesis> slots;
    for (const Extension& one : best_)
      slots.push_back(one.token < 0 ? item.open[at(one.rank)] : extended(item, one, t));
    item.open = std::move(slots);
    item.done = std::all_of(item.open.begin(), item.open.end(),
                            [](const Hypothesis& slot) { return slot.finished; });
  }

  void advance_separate(Item& item, std::int64_t t) {
    keep_best();
    const auto beam = at(args_.beam);
    std::vector<Hypothesis> open;
    for (std::size_t rank = 0; rank < best_.size() && open.size() < beam; ++rank) {
      const bool ends = is_eos(best_[rank].token);
      if (ends && rank >= beam) continue;
      const Hypothesis child = extended(item, best_[rank], t);
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
    const double hope = item.open.front().log_prob / (to_the_end ? penalty(args_.max_new) : lp_);
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
  const std::int64_t blocks_;  // of a row
  const std::int64_t wanted_;  // extensions of an item that a step has to look at
  double lp_ = 1;              // of this step's extensions
  std::vector<Item> items_;
  std::vector<Row*> rows_;  // of this step, all items'
  std::vector<float> maxima_;
  std::vector<std::uint64_t> states_;
  std::vector<std::uint64_t> new_states_;
  std::vector<std::int32_t> tokens_;
  std::vector<double> keys_;
  std::vector<Extension> best_;
};

bool sizes_are_valid(const BeamArgs& args) {
  if (args.batch < 0 || args.beam < 1 || args.vocab < 1 || args.max_new < 0 || args.min_new < 0 ||
      args.eos_count < 0)
    return false;
  if (args.min_new > args.max_new || args.n_return < 1 || args.n_return > args.beam) return false;
  return args.num_threads >= 1 && std::isfinite(args.alpha);
}

bool kinds_are_valid(const BeamArgs& args) {
  return args.penalty >= BEAM_PENALTY_NONE && args.penalty <= BEAM_PENALTY_GNMT &&
         (args.policy == BEAM_POOLED || args.policy == BEAM_SEPARATE) &&
         args.stop >= BEAM_STOP_ESTIMATE && args.stop <= BEAM_STOP_BOUND;
}

bool pointers_are_valid(const BeamArgs& args) {
  if (args.prompt_lengths == nullptr || args.root_states == nullptr ||
      args.root_log_probs == nullptr || args.hypotheses == nullptr || args.lengths == nullptr ||
      args.finished == nullptr || args.log_probs == nullptr || args.scores == nullptr)
    return false;
  return args.max_new == 0 || (args.step != nullptr && args.tokens != nullptr);
}

bool eos_is_valid(const BeamArgs& args) {
  if (args.eos_count > 0 && args.eos == nullptr) return false;
  return std::all_of(args.eos, args.eos + args.eos_count,
                     [&](std::int32_t token) { return token >= 0 && token < args.vocab; });
}

}  // namespace

extern "C" int64_t beam_search(const BeamArgs* args) {
  if (args->abi_version != BEAM_ABI_VERSION || args->device != BEAM_HOST) return BEAM_UNSUPPORTED;
  if (!sizes_are_valid(*args) || !kinds_are_valid(*args)) return BEAM_BAD_ARGUMENT;
  if (args->batch == 0) return BEAM_OK;
  if (!pointers_are_valid(*args) || !eos_is_valid(*args)) return BEAM_BAD_ARGUMENT;
  return Search(*args).run();
}
