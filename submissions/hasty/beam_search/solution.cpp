// Beam search. Tokens live in a tree of back pointers, each row gives its best few candidates, and
// the candidates of all rows are sorted together.
#include <algorithm>
#include <cmath>
#include <vector>

#include "contract.h"

// Token `token` after node `parent` (-1: after the prompt).
struct Node {
  int32_t parent, token;
};

struct Beam {
  int32_t node = -1, length = 0;
  double log_prob = 0, score = 0;
  bool finished = false;
  uint64_t state = 0;
};

using Top = std::pair<float, int32_t>;

struct Cand {
  double key, log_prob;  // the policy sorts by key
  int32_t beam, token;   // token -1: a finished beam that stays
};

struct Item {
  std::vector<Node> tree;
  std::vector<Beam> beams, finished;  // pooled: all in beams
  int32_t steps = 0;
  bool done = false;
};

// What all items share.
struct Search {
  const BeamArgs* args;
  std::vector<char> is_eos;
  bool pooled;

  double lp(int64_t n) const {
    if (args->penalty == BEAM_PENALTY_LENGTH) return std::pow(double(n), args->alpha);
    if (args->penalty == BEAM_PENALTY_GNMT) return std::pow((5.0 + double(n)) / 6.0, args->alpha);
    return 1.0;
  }

  // Min-heap of the best tokens of a row.
  void top_of_row(const float* row, bool no_eos, std::vector<Top>& top) const {
    size_t keep = size_t(pooled ? args->beam : 2 * args->beam);
    auto better = [](const auto& x, const auto& y) {
      return x.first > y.first || (x.first == y.first && x.second < y.second);
    };
    float worst = -1e9f;
    top.clear();
    for (int32_t v = 0; v < args->vocab; v++) {
      if (row[v] <= worst || (no_eos && is_eos[size_t(v)])) continue;
      if (top.size() == keep) {
        std::pop_heap(top.begin(), top.end(), better);
        top.pop_back();
      }
      top.push_back({row[v], v});
      std::push_heap(top.begin(), top.end(), better);
      if (top.size() == keep) worst = top.front().first;
    }
  }

  std::vector<Cand> candidates(const Item& item, const float* rows, int64_t t) const {
    std::vector<Cand> cands;
    std::vector<Top> top;
    double div = pooled ? lp(t) : 1.0;
    for (size_t k = 0; k < item.beams.size(); k++) {
      const Beam& beam = item.beams[k];
      if (beam.finished) {
        cands.push_back({beam.score, beam.log_prob, int32_t(k), -1});
        continue;
      }
      top_of_row(rows, t <= args->min_new, top);
      for (auto& [value, token] : top) {
        double sum = beam.log_prob + double(value);
        cands.push_back({sum / div, sum, int32_t(k), token});
      }
      rows += args->vocab;
    }
    // Twice as many as beams, so that EOS does not starve the open ones.
    size_t keep = std::min(cands.size(), size_t(2 * args->beam));
    auto better = [](const Cand& x, const Cand& y) {
      if (x.key != y.key) return x.key > y.key;
      return x.beam != y.beam ? x.beam < y.beam : x.token < y.token;
    };
    std::partial_sort(cands.begin(), cands.begin() + long(keep), cands.end(), better);
    cands.resize(keep);
    return cands;
  }

  // One step: `rows` has a row of log-probs for every open beam.
  void advance(Item& item, const float* rows) const {
    int64_t t = ++item.steps;
    double div = lp(t);
    std::vector<Beam> next;
    int64_t rank = 0;
    for (const Cand& cand : candidates(item, rows, t)) {
      if (int64_t(next.size()) == args->beam) break;
      bool late = rank++ >= args->beam;
      Beam beam = item.beams[size_t(cand.beam)];
      if (cand.token >= 0) {
        beam.finished = is_eos[size_t(cand.token)];
        if (beam.finished && late) continue;
        item.tree.push_back({beam.node, cand.token});
        beam.node = int32_t(item.tree.size()) - 1;
        beam.length++;
        beam.log_prob = cand.log_prob;
        beam.score = cand.log_prob / div;
      }
      (beam.finished && !pooled ? item.finished : next).push_back(beam);
    }
    item.beams.swap(next);
    bool last = t == args->max_new;
    if (pooled) {
      item.done = true;
      for (const Beam& beam : item.beams) item.done = item.done && (last || beam.finished);
      return;
    }
    std::vector<Beam>& list = item.finished;
    if (last) list.insert(list.end(), item.beams.begin(), item.beams.end());
    std::stable_sort(list.begin(), list.end(),
                     [](const Beam& x, const Beam& y) { return x.score > y.score; });
    if (int64_t(list.size()) > args->beam) list.resize(size_t(args->beam));
    item.done = last || item.beams.empty() || can_stop(item, t);
  }

  bool can_stop(const Item& item, int64_t t) const {
    if (int64_t(item.finished.size()) < args->beam) return false;
    if (args->stop == BEAM_STOP_FULL) return true;
    bool bound = args->stop == BEAM_STOP_BOUND && args->alpha > 0;
    return item.finished.back().score >= item.beams[0].log_prob / lp(bound ? args->max_new : t);
  }
};

static bool bad_arguments(const BeamArgs* a) {
  if (a->batch < 0 || a->beam < 1 || a->vocab < 1 || a->max_new < 0 || a->min_new < 0) return true;
  if (a->min_new > a->max_new || a->n_return < 1 || a->n_return > a->beam) return true;
  if (a->eos_count < 0 || a->num_threads < 1 || !std::isfinite(a->alpha)) return true;
  if (a->penalty < 0 || a->penalty > 2 || a->stop < 0 || a->stop > 2) return true;
  if (a->policy != BEAM_POOLED && a->policy != BEAM_SEPARATE) return true;
  for (int64_t i = 0; a->eos && i < a->eos_count; i++)
    if (a->eos[i] < 0 || a->eos[i] >= a->vocab) return true;
  if (a->batch == 0) return false;
  if (!a->prompt_lengths || !a->root_states || !a->root_log_probs || !a->hypotheses) return true;
  if (!a->lengths || !a->finished || !a->log_probs || !a->scores) return true;
  if (a->max_new > 0 && (!a->tokens || !a->step)) return true;
  return a->eos_count > 0 && !a->eos;
}

static void write_item(const BeamArgs* a, const Item& item, int64_t b) {
  const auto& out = a->policy == BEAM_POOLED || a->max_new == 0 ? item.beams : item.finished;
  int64_t n = std::min(int64_t(out.size()), a->n_return);
  a->hypotheses[b] = int32_t(n);
  if (a->steps) a->steps[b] = item.steps;
  for (int64_t i = 0; i < a->n_return; i++) {
    int64_t slot = b * a->n_return + i;
    Beam beam;
    beam.log_prob = beam.score = -INFINITY;
    if (i < n) beam = out[size_t(i)];
    a->lengths[slot] = beam.length;
    a->finished[slot] = beam.finished;
    a->log_probs[slot] = beam.log_prob;
    a->scores[slot] = beam.score;
    int32_t* tokens = a->tokens + slot * a->max_new;
    std::fill(tokens + beam.length, tokens + a->max_new, a->pad);
    for (int32_t node = beam.node, j = beam.length; j-- > 0; node = item.tree[size_t(node)].parent)
      tokens[j] = item.tree[size_t(node)].token;
  }
}

int64_t beam_search(const BeamArgs* args) {
  if (args->abi_version != BEAM_ABI_VERSION || args->device != BEAM_HOST) return BEAM_UNSUPPORTED;
  if (bad_arguments(args)) return BEAM_BAD_ARGUMENT;
  if (args->batch == 0) return BEAM_OK;

  Search search{args, std::vector<char>(size_t(args->vocab), 0), args->policy == BEAM_POOLED};
  for (int64_t i = 0; i < args->eos_count; i++) search.is_eos[size_t(args->eos[i])] = 1;
  std::vector<Item> items(size_t(args->batch));
  for (int64_t b = 0; b < args->batch; b++) {
    Item& item = items[size_t(b)];
    item.beams.resize(1);
    item.beams[0].state = args->root_states[b];
    if (args->max_new > 0) search.advance(item, args->root_log_probs + b * args->vocab);
  }
  std::vector<float> logp;
  for (int64_t t = 2; t <= args->max_new; t++) {
    std::vector<uint64_t> states;
    std::vector<int32_t> tokens;
    for (Item& item : items) {
      if (item.done) continue;
      for (const Beam& beam : item.beams) {
        if (beam.finished) continue;
        states.push_back(beam.state);
        tokens.push_back(item.tree[size_t(beam.node)].token);
      }
    }
    if (states.empty()) break;
    std::vector<uint64_t> new_states(states.size());
    logp.resize(states.size() * size_t(args->vocab));
    BeamStep request = {int64_t(states.size()), states.data(), tokens.data(), new_states.data(),
                        logp.data()};
    if (int64_t rc = args->step(args->model, &request)) return rc;
    size_t row = 0;
    for (Item& item : items) {
      if (item.done) continue;
      const float* rows = logp.data() + row * size_t(args->vocab);
      for (Beam& beam : item.beams)
        if (!beam.finished) beam.state = new_states[row++];
      search.advance(item, rows);
    }
  }
  for (int64_t b = 0; b < args->batch; b++) write_item(args, items[size_t(b)], b);
  return BEAM_OK;
}
