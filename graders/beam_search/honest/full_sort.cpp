// strategy: sort all extensions of an item, token lists copied with every hypothesis
// uses: the arrays of a request are the solution's, here other ones in every step; scores may be
// off by 1e-9 relative, here with penalties by std::pow
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common.h"

namespace {

struct Hypothesis {
  std::vector<std::int32_t> tokens;
  double log_prob = 0;
  double score = 0;
  std::uint64_t state = 0;
  bool finished = false;
};

struct Candidate {
  double log_prob;
  double score;
  std::size_t parent;
  std::int32_t token;  // -1: a finished hypothesis that stays
};

struct Item {
  std::vector<Hypothesis> beams;  // pooled: the slots
  std::vector<Hypothesis> ended;  // separate: the list
  std::int32_t steps = 0;
  bool done = false;
};

double penalty(const BeamArgs& a, std::int64_t length) {
  const auto n = static_cast<double>(length);
  if (a.penalty == BEAM_PENALTY_LENGTH) return std::pow(n, a.alpha);
  if (a.penalty == BEAM_PENALTY_GNMT) return std::pow((5 + n) / 6, a.alpha);
  return 1;
}

bool is_eos(const BeamArgs& a, std::int32_t token) {
  for (std::int64_t i = 0; i < a.eos_count; ++i)
    if (a.eos[i] == token) return true;
  return false;
}

Hypothesis extend(const BeamArgs& a, const Hypothesis& parent, const Candidate& candidate) {
  Hypothesis child = parent;
  child.tokens.push_back(candidate.token);
  child.log_prob = candidate.log_prob;
  child.score = candidate.score;
  child.finished = is_eos(a, candidate.token);
  return child;
}

/// `rows` holds the log-probs of the open beams, in order.
std::vector<Candidate> candidates_of(const BeamArgs& a, const Item& item, const float* rows,
                                     std::int64_t t) {
  std::vector<Candidate> all;
  const double lp = penalty(a, t);
  for (std::size_t beam = 0; beam < item.beams.size(); ++beam) {
    const Hypothesis& one = item.beams[beam];
    if (one.finished) {
      all.push_back({one.log_prob, one.score, beam, -1});
      continue;
    }
    for (std::int32_t token = 0; token < a.vocab; ++token) {
      if (std::isinf(rows[token])) continue;
      if (t <= a.min_new && is_eos(a, token)) continue;
      const double log_prob = one.log_prob + static_cast<double>(rows[token]);
      all.push_back({log_prob, log_prob / lp, beam, token});
    }
    rows += a.vocab;
  }
  return all;
}

void step_pooled(const BeamArgs& a, Item& item, const float* rows, std::int64_t t) {
  std::vector<Candidate> all = candidates_of(a, item, rows, t);
  std::sort(all.begin(), all.end(), [](const Candidate& x, const Candidate& y) {
    if (x.score != y.score) return x.score > y.score;
    if (x.parent != y.parent) return x.parent < y.parent;
    return x.token < y.token;
  });
  std::vector<Hypothesis> slots;
  bool any_open = false;
  for (const Candidate& candidate : all) {
    if (static_cast<std::int64_t>(slots.size()) == a.beam) break;
    const Hypothesis& parent = item.beams[candidate.parent];
    slots.push_back(candidate.token < 0 ? parent : extend(a, parent, candidate));
    any_open = any_open || !slots.back().finished;
  }
  item.beams = slots;
  item.done = !any_open;
}

void add_to_list(const BeamArgs& a, std::vector<Hypothesis>& list, const Hypothesis& one) {
  std::size_t place = list.size();
  while (place > 0 && one.score > list[place - 1].score) --place;
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), one);
  if (static_cast<std::int64_t>(list.size()) > a.beam) list.pop_back();
}

bool stops(const BeamArgs& a, const Item& item, std::int64_t t) {
  if (static_cast<std::int64_t>(item.ended.size()) < a.beam) return false;
  if (a.stop == BEAM_STOP_FULL) return true;
  const std::int64_t length = a.stop == BEAM_STOP_BOUND && a.alpha > 0 ? a.max_new : t;
  const double worst = item.ended.back().score;
  return worst >= item.beams.front().log_prob / penalty(a, length);
}

void step_separate(const BeamArgs& a, Item& item, const float* rows, std::int64_t t) {
  std::vector<Candidate> all = candidates_of(a, item, rows, t);
  std::sort(all.begin(), all.end(), [](const Candidate& x, const Candidate& y) {
    if (x.log_prob != y.log_prob) return x.log_prob > y.log_prob;
    if (x.parent != y.parent) return x.parent < y.parent;
    return x.token < y.token;
  });
  std::vector<Hypothesis> open;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (static_cast<std::int64_t>(open.size()) == a.beam) break;
    const Hypothesis& parent = item.beams[all[rank].parent];
    if (!is_eos(a, all[rank].token))
      open.push_back(extend(a, parent, all[rank]));
    else if (static_cast<std::int64_t>(rank) < a.beam)
      add_to_list(a, item.ended, extend(a, parent, all[rank]));
  }
  item.beams = open;
  if (t == a.max_new)
    for (const Hypothesis& one : item.beams) add_to_list(a, item.ended, one);
  item.done = item.beams.empty() || stops(a, item, t);
}

void step_item(const BeamArgs& a, Item& item, const float* rows, std::int64_t t) {
  item.steps = static_cast<std::int32_t>(t);
  if (a.policy == BEAM_POOLED)
    step_pooled(a, item, rows, t);
  else
    step_separate(a, item, rows, t);
}

/// Asks for the log-probs of all open beams of the batch.
struct Request {
  std::vector<std::uint64_t> states;
  std::vector<std::int32_t> tokens;
  std::vector<std::uint64_t> new_states;
  std::vector<float> log_probs;

  void add(const Hypothesis& one) {
    states.push_back(one.state);
    tokens.push_back(one.tokens.back());
  }

  std::int64_t send(const BeamArgs& a) {
    new_states.resize(states.size());
    log_probs.resize(states.size() * static_cast<std::size_t>(a.vocab));
    BeamStep step{static_cast<std::int64_t>(states.size()), states.data(), tokens.data(),
                  new_states.data(), log_probs.data()};
    return a.step(a.model, &step);
  }
};

std::int64_t ask_and_step(const BeamArgs& a, std::vector<Item>& items, std::int64_t t) {
  Request request;
  for (Item& item : items)
    for (Hypothesis& one : item.beams)
      if (!item.done && !one.finished) request.add(one);
  if (request.states.empty()) return 0;
  if (const std::int64_t status = request.send(a); status != 0) return status;
  std::size_t row = 0;
  for (Item& item : items) {
    if (item.done) continue;
    const float* rows = request.log_probs.data() + row * static_cast<std::size_t>(a.vocab);
    for (Hypothesis& one : item.beams)
      if (!one.finished) one.state = request.new_states[row++];
    step_item(a, item, rows, t);
  }
  return 0;
}

void write_item(const BeamArgs& a, const Item& item, std::int64_t b) {
  const bool in_beams = a.policy == BEAM_POOLED || a.max_new == 0;
  const std::vector<Hypothesis>& list = in_beams ? item.beams : item.ended;
  const auto found = static_cast<std::int64_t>(list.size());
  a.hypotheses[b] = static_cast<std::int32_t>(std::min(found, a.n_return));
  if (a.steps != nullptr) a.steps[b] = item.steps;
  for (std::int64_t i = 0; i < a.n_return; ++i) {
    const std::int64_t slot = b * a.n_return + i;
    Hypothesis one;
    one.log_prob = one.score = -HUGE_VAL;
    if (i < found) one = list[static_cast<std::size_t>(i)];
    a.lengths[slot] = static_cast<std::int32_t>(one.tokens.size());
    a.finished[slot] = one.finished ? 1 : 0;
    a.log_probs[slot] = one.log_prob;
    a.scores[slot] = one.score;
    for (std::size_t at = 0; at < static_cast<std::size_t>(a.max_new); ++at)
      a.tokens[slot * a.max_new + static_cast<std::int64_t>(at)] =
          at < one.tokens.size() ? one.tokens[at] : a.pad;
  }
}

}  // namespace

extern "C" int64_t beam_search(const BeamArgs* args) {
  const BeamArgs& a = *args;
  if (a.abi_version != BEAM_ABI_VERSION || a.device != BEAM_HOST) return BEAM_UNSUPPORTED;
  if (!sizes_ok(a) || !kinds_ok(a)) return BEAM_BAD_ARGUMENT;
  if (!eos_ok(a)) return BEAM_BAD_ARGUMENT;
  if (a.batch == 0) return BEAM_OK;
  if (!arrays_ok(a)) return BEAM_BAD_ARGUMENT;

  std::vector<Item> items(static_cast<std::size_t>(a.batch));
  for (std::int64_t b = 0; b < a.batch; ++b) {
    Item& item = items[static_cast<std::size_t>(b)];
    item.beams.resize(1);
    item.beams[0].state = a.root_states[b];
    if (a.max_new > 0) step_item(a, item, a.root_log_probs + b * a.vocab, 1);
  }
  for (std::int64_t t = 2; t <= a.max_new; ++t)
    if (const std::int64_t status = ask_and_step(a, items, t); status != 0) return status;
  for (std::int64_t b = 0; b < a.batch; ++b) write_item(a, items[static_cast<std::size_t>(b)], b);
  return BEAM_OK;
}
