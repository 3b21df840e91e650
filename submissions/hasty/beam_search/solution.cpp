// Beam search with batched model calls. Finished beams go to a list of their own.
#include <algorithm>
#include <cmath>
#include <vector>

#include "contract.h"

struct Beam {
  std::vector<int32_t> tokens;
  double log_prob = 0;
  double score = 0;
  bool finished = false;
  uint64_t state = 0;
};

struct Cand {
  double log_prob;
  int beam;
  int token;
};

static double penalty(const BeamArgs* args, int64_t len) {
  if (args->penalty == BEAM_PENALTY_LENGTH) return std::pow(double(len), args->alpha);
  if (args->penalty == BEAM_PENALTY_GNMT) return std::pow((5.0 + double(len)) / 6.0, args->alpha);
  return 1.0;
}

static bool is_eos(const BeamArgs* args, int32_t tok) {
  for (int64_t i = 0; i < args->eos_count; i++)
    if (args->eos[i] == tok) return true;
  return false;
}

// One step of one batch item.
static void step_item(const BeamArgs* args, std::vector<Beam>& beams, std::vector<Beam>& finished,
                      const float* logp, int64_t t) {
  std::vector<Cand> cands;
  for (size_t k = 0; k < beams.size(); k++)
    for (int64_t v = 0; v < args->vocab; v++) {
      if (t < args->min_new && is_eos(args, int32_t(v))) continue;
      float lp = logp[int64_t(k) * args->vocab + v];
      if (lp <= -1e9f) continue;
      cands.push_back({beams[k].log_prob + lp, int(k), int(v)});
    }
  // keep 2K candidates so that EOS does not starve the beams
  size_t keep = std::min(cands.size(), size_t(2 * args->beam));
  std::partial_sort(cands.begin(), cands.begin() + long(keep), cands.end(),
                    [](const Cand& a, const Cand& b) { return a.log_prob > b.log_prob; });
  std::vector<Beam> next;
  for (size_t i = 0; i < keep; i++) {
    Beam b = beams[size_t(cands[i].beam)];
    b.tokens.push_back(cands[i].token);
    b.log_prob = cands[i].log_prob;
    b.score = b.log_prob / penalty(args, t);
    if (is_eos(args, cands[i].token)) {
      b.finished = true;
      finished.push_back(b);
    } else if (int64_t(next.size()) < args->beam) {
      next.push_back(b);
    }
  }
  beams = next;
}

extern "C" int64_t beam_search(const BeamArgs* args) {
  if (args->batch < 0 || args->beam < 1 || args->vocab < 1 || args->max_new < 0)
    return BEAM_BAD_ARGUMENT;
  if (args->n_return < 1 || args->n_return > args->beam) return BEAM_BAD_ARGUMENT;

  int64_t B = args->batch, V = args->vocab;
  std::vector<std::vector<Beam>> beams(B), finished(B);
  std::vector<int32_t> steps(B, 0);
  std::vector<bool> done(B, false);
  std::vector<float> logp;

  for (int64_t b = 0; b < B; b++) {
    beams[b].resize(1);
    beams[b][0].state = args->root_states[b];
  }

  for (int64_t t = 1; t <= args->max_new; t++) {
    std::vector<uint64_t> states, new_states;
    std::vector<int32_t> tokens;
    if (t > 1) {
      for (int64_t b = 0; b < B; b++)
        if (!done[b])
          for (auto& beam : beams[b]) {
            states.push_back(beam.state);
            tokens.push_back(beam.tokens.back());
          }
      if (states.empty()) break;
      new_states.resize(states.size());
      logp.resize(states.size() * size_t(V));
      BeamStep req = {int64_t(states.size()), states.data(), tokens.data(), new_states.data(),
                      logp.data()};
      int64_t rc = args->step(args->model, &req);
      if (rc != 0) return rc;
    }
    size_t row = 0;
    for (int64_t b = 0; b < B; b++) {
      if (done[b]) continue;
      const float* rows = t == 1 ? args->root_log_probs + b * V : logp.data() + row * size_t(V);
      if (t > 1)
        for (auto& beam : beams[b]) beam.state = new_states[row++];
      step_item(args, beams[b], finished[b], rows, t);
      steps[b] = int32_t(t);
      if (int64_t(finished[b].size()) >= args->beam || beams[b].empty()) done[b] = true;
    }
  }

  for (int64_t b = 0; b < B; b++) {
    // add unfinished beams if there are not enough finished ones
    std::vector<Beam>& out = finished[b];
    for (auto& beam : beams[b])
      if (int64_t(out.size()) < args->beam) out.push_back(beam);
    std::sort(out.begin(), out.end(),
              [](const Beam& x, const Beam& y) { return x.score > y.score; });
    int64_t n = std::min(int64_t(out.size()), args->n_return);
    args->hypotheses[b] = int32_t(n);
    if (args->steps) args->steps[b] = steps[b];
    for (int64_t i = 0; i < args->n_return; i++) {
      int64_t slot = b * args->n_return + i;
      Beam beam;
      beam.log_prob = beam.score = -INFINITY;
      if (i < n) beam = out[size_t(i)];
      args->lengths[slot] = int32_t(beam.tokens.size());
      args->finished[slot] = beam.finished;
      args->log_probs[slot] = beam.log_prob;
      args->scores[slot] = beam.score;
      for (int64_t j = 0; j < args->max_new; j++)
        args->tokens[slot * args->max_new + j] =
            j < int64_t(beam.tokens.size()) ? beam.tokens[size_t(j)] : args->pad;
    }
  }
  return BEAM_OK;
}
