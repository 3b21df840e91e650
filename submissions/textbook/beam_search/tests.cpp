// Unit tests of the contract: searches written out by hand, and random ones against a plain search
// that keeps every extension in one sorted list.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "contract.h"
#include "plain_search.h"
#include "test_model.h"

namespace {

bool near(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-9 * std::abs(b);
}

bool as_expected(const Run& run, const Model& model, std::int64_t item, const Expected& want) {
  const Setup& s = model.setup;
  const auto b = static_cast<std::size_t>(item);
  if (run.hypotheses[b] != static_cast<std::int32_t>(want.best.size())) return false;
  if (run.steps[b] != want.steps) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.beam); ++i) {
    const std::size_t slot = b * static_cast<std::size_t>(s.beam) + i;
    Hypothesis one;
    one.sum = one.score = -HUGE_VAL;
    if (i < want.best.size()) one = want.best[i];
    if (run.lengths[slot] != static_cast<std::int32_t>(one.tokens.size())) return false;
    if (run.finished[slot] != (one.finished ? 1 : 0)) return false;
    if (!near(run.log_probs[slot], one.sum) || !near(run.scores[slot], one.score)) return false;
    one.tokens.resize(static_cast<std::size_t>(s.max_new), -9);
    if (!std::equal(one.tokens.begin(), one.tokens.end(),
                    run.tokens.begin() + static_cast<std::ptrdiff_t>(slot * one.tokens.size())))
      return false;
  }
  return true;
}

bool search_is_right(Model& model) {
  Run run(model);
  run.call();
  if (run.returned != BEAM_OK || model.confused) return false;
  std::int64_t steps = 1, rows = 0;
  for (std::int64_t b = 0; b < model.setup.batch; ++b) {
    const Expected want = plain_search(model, b);
    if (!as_expected(run, model, b, want)) return false;
    steps = std::max(steps, want.steps);
    rows += want.rows;
  }
  return model.requests <= steps - 1 && model.rows <= rows;
}

// Six ways to count lengths wrongly change the winner of this search.
bool by_hand() {
  for (const std::int32_t policy : {BEAM_POOLED, BEAM_SEPARATE}) {
    Model model;
    model.setup.policy = policy;
    model.setup.stop = BEAM_STOP_BOUND;
    model.setup.alpha = 0.6;
    const std::vector<float> other{-4, -5, -6, -7};
    for (std::int32_t i = 0; i < 4; ++i)
      for (std::int32_t j = 0; j < 4; ++j) {
        model.table[{i}] = other;
        model.table[{i, j}] = other;
      }
    model.table[{}] = {-1, -0.5F, -6, -7};
    model.table[{1}] = {-6, -7, -0.625F, -8};
    model.table[{1, 2}] = {-0.625F, -7, -8, -9};
    Run run(model);
    run.call();
    if (run.returned != BEAM_OK || run.lengths[0] != 3 || run.lengths[1] != 1) return false;
    if (run.tokens[0] != 1 || run.tokens[1] != 2 || run.tokens[2] != 0) return false;
    if (std::abs(run.scores[0] + 0.905243) > 1e-6 || run.scores[1] != -1) return false;
  }
  return true;
}

Setup random_setup(Random& random) {
  Setup s;
  s.batch = 1 + random.below(6);
  s.beam = 1 + random.below(5);
  s.vocab = 2 + random.below(9);
  s.max_new = random.below(7);
  s.min_new = random.below(4) == 0 ? random.below(s.max_new + 1) : 0;
  s.eos.clear();
  for (std::int32_t token = 0; token < s.vocab; ++token)
    if (random.below(s.vocab) < 2) s.eos.push_back(token);
  const double alphas[] = {0, 0.6, 1.1, 2.03, -0.7};
  s.alpha = alphas[random.below(5)];
  s.penalty = static_cast<std::int32_t>(random.below(3));
  s.policy = static_cast<std::int32_t>(random.below(2));
  s.stop = static_cast<std::int32_t>(random.below(3));
  return s;
}

/// Rows of thousands of tokens, coarse, or of which a few are possible or an EOS is among the best.
void enlarge_vocabulary(Random& random, Model& model) {
  Setup& s = model.setup;
  s.batch = 2;
  s.vocab = 5200 + random.below(2000);
  s.max_new = 3;
  s.min_new = random.below(3);
  s.eos = {static_cast<std::int32_t>(random.below(s.vocab))};
  s.penalty = BEAM_PENALTY_NONE;
  model.levels = random.below(2) == 0 ? 3 : 1 << 20;
  model.eos_favour = 1 << 15;
  model.forbidden = random.below(2) == 0 ? 0.999 : 0;
}

bool random_searches() {
  Random random{7};
  for (int turn = 0; turn < 1500; ++turn) {
    Model model;
    model.setup = random_setup(random);
    model.seed = random.next();
    model.eos_favour = 1 + random.below(30);
    model.forbidden = random.below(4) == 0 ? 0.4 : 0;
    if (turn % 5 == 0) {  // coarse: many ties, which only equal penalties keep free of rounding
      model.unit = 1;
      model.levels = 3;
      model.setup.penalty = BEAM_PENALTY_NONE;
    }
    if (turn % 50 == 1) model.unit = 1e6 * 0x1p20;
    if (turn % 20 == 2) model.far_down = 0x1p24;
    if (turn % 100 == 3) model.setup.batch = 90;
    if (turn % 50 == 4) {
      model.setup.vocab = 20;
      model.setup.eos = {1, 2, 3, 5, 8, 9, 10, 11, 13, 17, 19};
    }
    if (turn % 100 == 6) model.setup.beam = 80, model.setup.max_new = 6;
    if (turn % 100 == 7) enlarge_vocabulary(random, model);
    if (!search_is_right(model)) {
      std::printf("random search %d is wrong\n", turn);
      return false;
    }
  }
  return true;
}

// Sums that are not exact in float32.
bool long_sums() {
  Model model;
  model.setup.max_new = 200;
  model.setup.min_new = 199;
  model.unit = 0.001;
  model.levels = 10'000'000;
  return search_is_right(model);
}

bool failing_model() {
  Model model;
  model.setup.fail_at = 2;
  model.setup.max_new = 6;
  model.setup.min_new = 6;
  Run run(model);
  run.call();
  return run.returned == -77 && !model.confused;
}

template <class Change>
bool refused(std::int64_t status, Change change) {
  Model model;
  Run run(model);
  change(run.args);
  run.call();
  return run.returned == status && model.requests == 0 && run.hypotheses[0] == -5 &&
         run.scores[0] == 1;
}

bool refusals() {
  constexpr std::int64_t kBad = BEAM_BAD_ARGUMENT;
  return refused(kBad, [](BeamArgs& a) { a.beam = 0; }) &&
         refused(kBad, [](BeamArgs& a) { a.min_new = a.max_new + 1; }) &&
         refused(kBad, [](BeamArgs& a) { a.n_return = a.beam + 1; }) &&
         refused(kBad, [](BeamArgs& a) { a.alpha = HUGE_VAL; }) &&
         refused(kBad, [](BeamArgs& a) { a.policy = 2; }) &&
         refused(kBad, [](BeamArgs& a) { a.vocab = -1; }) &&
         refused(BEAM_UNSUPPORTED, [](BeamArgs& a) { a.abi_version = 99; });
}

bool without_steps() {
  Model model;
  Run run(model);
  run.args.steps = nullptr;
  run.call();
  return run.returned == BEAM_OK && run.steps[0] == -5 && run.hypotheses[0] == 2;
}

}  // namespace

extern "C" int self_test(void);

extern "C" int self_test(void) {
  struct Test {
    const char* name;
    bool (*holds)();
  };
  const Test tests[] = {{"by_hand", by_hand},     {"random_searches", random_searches},
                        {"long_sums", long_sums}, {"failing_model", failing_model},
                        {"refusals", refusals},   {"without_steps", without_steps}};
  int failures = 0;
  for (const Test& test : tests)
    if (!test.holds()) {
      std::printf("%s fails\n", test.name);
      ++failures;
    }
  return failures;
}
