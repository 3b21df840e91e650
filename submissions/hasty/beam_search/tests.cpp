// Smoke test: with one beam, the search follows the best token of every row until EOS.
#include <cmath>
#include <vector>

#include "contract.h"

// After token v the next best is v + 1; token 4 is EOS. A state counts the tokens.
static int64_t next_token(void*, BeamStep* step) {
  for (int64_t i = 0; i < step->rows; ++i) {
    step->new_states[i] = step->states[i] + 1;
    for (int v = 0; v < 5; ++v)
      step->log_probs[i * 5 + v] = v == step->tokens[i] + 1 ? -0.5f : -8.0f - float(v);
  }
  return 0;
}

extern "C" int self_test(void) {
  for (int policy : {BEAM_POOLED, BEAM_SEPARATE}) {
    const int32_t eos = 4;
    const int64_t prompt = 3;
    const uint64_t root = 100;
    const std::vector<float> row = {-7.0f, -0.25f, -8.0f, -9.0f, -10.0f};
    int32_t count = 0, length = 0, finished = 0;
    double log_prob = 0, score = 0;
    std::vector<int32_t> tokens(6);
    BeamArgs args{};
    args.abi_version = BEAM_ABI_VERSION;
    args.struct_size = sizeof(args);
    args.device = BEAM_HOST;
    args.num_threads = 1;
    args.batch = args.beam = args.n_return = args.eos_count = 1;
    args.vocab = 5;
    args.max_new = 6;
    args.alpha = 1.0;
    args.penalty = BEAM_PENALTY_LENGTH;
    args.policy = policy;
    args.stop = BEAM_STOP_FULL;
    args.pad = -1;
    args.eos = &eos;
    args.prompt_lengths = &prompt;
    args.root_states = &root;
    args.root_log_probs = row.data();
    args.step = next_token;
    args.hypotheses = &count;
    args.tokens = tokens.data();
    args.lengths = &length;
    args.finished = &finished;
    args.log_probs = &log_prob;
    args.scores = &score;
    if (beam_search(&args) != BEAM_OK) return 1;
    if (count != 1 || length != 4 || finished != 1) return 2;
    if (tokens != std::vector<int32_t>{1, 2, 3, 4, -1, -1}) return 3;
    if (std::fabs(log_prob + 1.75) > 1e-9 || std::fabs(score + 0.4375) > 1e-9) return 4;
  }
  return 0;
}
