// Unit tests of the contract: searches written out by hand, and random ones against a plain search
// that keeps every extension in one sorted list.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

#include "contract.h"

namespace {

using Tokens = std::vector<std::int32_t>;

struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(end));
  }
};

struct Setup {
  std::int64_t batch = 1, beam = 2, vocab = 4, max_new = 3, min_new = 0;
  Tokens eos{0};
  double alpha = 0;
  std::int32_t penalty = BEAM_PENALTY_LENGTH, policy = BEAM_SEPARATE, stop = BEAM_STOP_ESTIMATE;
  std::int64_t prompt = 5;
  std::int64_t fail_at = 0;
};

/// The language model: a row for each item and path, drawn once, in steps of `unit`.
struct Model {
  Setup setup;
  std::uint64_t seed = 1;
  double unit = 1.0 / 1024;
  std::int64_t levels = 6144;
  std::int64_t eos_favour = 1;
  double forbidden = 0;
  std::map<Tokens, std::vector<float>> table;  // overrides, for every item

  struct Place {
    std::int64_t item;
    Tokens path;
  };
  std::vector<Place> places;  // by state
  std::int64_t requests = 0, rows = 0;
  bool confused = false;

  std::vector<float> row(std::int64_t item, const Tokens& path) const {
    if (const auto found = table.find(path); found != table.end()) return found->second;
    Random random{seed * 1000003 + static_cast<std::uint64_t>(item)};
    for (const std::int32_t token : path)
      random.state = random.next() * 31 + static_cast<std::uint64_t>(token);
    std::vector<float> values;
    for (std::int64_t token = 0; token < setup.vocab; ++token) {
      std::int64_t units = random.below(levels);
      if (std::count(setup.eos.begin(), setup.eos.end(), token) > 0) units /= eos_favour;
      const bool never = static_cast<double>(random.below(1000)) < forbidden * 1000;
      values.push_back(never ? -HUGE_VALF : static_cast<float>(-unit * static_cast<double>(units)));
    }
    return values;
  }

  std::uint64_t remember(std::int64_t item, Tokens path) {
    places.push_back({item, std::move(path)});
    return (places.size() - 1) * 977 + 13;
  }

  static std::int64_t step(void* self, BeamStep* step) {
    Model& model = *static_cast<Model*>(self);
    ++model.requests;
    if (model.requests >= model.setup.fail_at && model.setup.fail_at > 0) {
      model.confused = model.confused || model.requests > model.setup.fail_at;
      return -77;
    }
    for (std::int64_t i = 0; i < step->rows; ++i) {
      const std::uint64_t number = (step->states[i] - 13) / 977;
      if (step->states[i] % 977 != 13 || number >= model.places.size()) {
        model.confused = true;
        return -78;
      }
      Place place = model.places[number];
      place.path.push_back(step->tokens[i]);
      const std::vector<float> values = model.row(place.item, place.path);
      std::copy(values.begin(), values.end(), step->log_probs + i * model.setup.vocab);
      step->new_states[i] = model.remember(place.item, place.path);
      ++model.rows;
    }
    return 0;
  }
};

struct Hypothesis {
  Tokens tokens;
  double sum = 0, score = 0;
  bool finished = false;
  std::int64_t from = 0;
  std::int32_t added = -1;
};

struct Expected {
  std::vector<Hypothesis> best;
  std::int64_t steps = 0, rows = 0;
};

double lp(const Setup& s, std::int64_t n) {
  if (s.penalty == BEAM_PENALTY_NONE) return 1;
  const auto x = static_cast<double>(n);
  return std::pow(s.penalty == BEAM_PENALTY_GNMT ? (5 + x) / 6 : x, s.alpha);
}

void enter(const Setup& s, std::vector<Hypothesis>& list, const Hypothesis& one) {
  list.push_back(one);
  std::stable_sort(list.begin(), list.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (static_cast<std::int64_t>(list.size()) > s.beam) list.pop_back();
}

Expected plain_search(const Model& model, std::int64_t item) {
  const Setup& s = model.setup;
  const bool pooled = s.policy == BEAM_POOLED;
  Expected result;
  std::vector<Hypothesis> beams(1), list;
  for (bool done = s.max_new == 0; !done;) {
    const std::int64_t t = ++result.steps;
    std::vector<Hypothesis> all;
    for (std::size_t k = 0; k < beams.size(); ++k) {
      beams[k].from = static_cast<std::int64_t>(k);
      beams[k].added = -1;
      if (beams[k].finished) {
        all.push_back(beams[k]);
        continue;
      }
      if (t > 1) ++result.rows;
      const std::vector<float> row = model.row(item, beams[k].tokens);
      for (std::int32_t token = 0; token < s.vocab; ++token) {
        Hypothesis next = beams[k];
        next.finished = std::count(s.eos.begin(), s.eos.end(), token) > 0;
        if (std::isinf(row[static_cast<std::size_t>(token)]) || (next.finished && t <= s.min_new))
          continue;
        next.tokens.push_back(token);
        next.added = token;
        next.sum += static_cast<double>(row[static_cast<std::size_t>(token)]);
        next.score = next.sum / lp(s, t);
        all.push_back(next);
      }
    }
    std::sort(all.begin(), all.end(), [&](const Hypothesis& a, const Hypothesis& b) {
      const double x = pooled ? a.score : a.sum;
      const double y = pooled ? b.score : b.sum;
      if (x != y) return x > y;
      return a.from != b.from ? a.from < b.from : a.added < b.added;
    });
    beams.clear();
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const bool room = static_cast<std::int64_t>(beams.size()) < s.beam;
      if (room && (pooled || !all[rank].finished)) beams.push_back(all[rank]);
      if (!pooled && all[rank].finished && static_cast<std::int64_t>(rank) < s.beam)
        enter(s, list, all[rank]);
    }
    done = t == s.max_new || std::all_of(beams.begin(), beams.end(),
                                         [](const Hypothesis& one) { return one.finished; });
    if (!pooled && t == s.max_new)
      for (const Hypothesis& one : beams) enter(s, list, one);
    if (!done && !pooled && static_cast<std::int64_t>(list.size()) == s.beam) {
      const bool far = s.stop == BEAM_STOP_BOUND && s.alpha > 0;
      done = s.stop == BEAM_STOP_FULL ||
             list.back().score >= beams[0].sum / lp(s, far ? s.max_new : t);
    }
  }
  result.best = pooled || s.max_new == 0 ? beams : list;
  return result;
}

/// A call with all its arrays.
struct Run {
  std::vector<std::uint64_t> root_states;
  std::vector<float> roots;
  std::vector<std::int64_t> prompts;
  std::vector<std::int32_t> hypotheses, tokens, lengths, finished, steps;
  std::vector<double> log_probs, scores;
  BeamArgs args{};
  std::int64_t returned = 0;

  explicit Run(Model& model) {
    const Setup& s = model.setup;
    for (std::int64_t b = 0; b < s.batch; ++b) {
      root_states.push_back(model.remember(b, {}));
      for (const float value : model.row(b, {})) roots.push_back(value);
      prompts.push_back(s.prompt + 3 * b);
    }
    const auto slots = static_cast<std::size_t>(s.batch * s.beam);
    hypotheses.assign(static_cast<std::size_t>(s.batch), -5);
    steps = hypotheses;
    lengths.assign(slots, -5);
    finished = lengths;
    tokens.assign(slots * static_cast<std::size_t>(s.max_new), -5);
    log_probs.assign(slots, 1);
    scores = log_probs;
    args.abi_version = BEAM_ABI_VERSION;
    args.struct_size = sizeof args;
    args.device = BEAM_HOST;
    args.num_threads = 2;
    args.batch = s.batch;
    args.beam = args.n_return = s.beam;
    args.vocab = s.vocab;
    args.max_new = s.max_new;
    args.min_new = s.min_new;
    args.eos_count = static_cast<std::int64_t>(s.eos.size());
    args.alpha = s.alpha;
    args.penalty = s.penalty;
    args.policy = s.policy;
    args.stop = s.stop;
    args.pad = -9;
    args.eos = s.eos.data();
    args.prompt_lengths = prompts.data();
    args.root_states = root_states.data();
    args.root_log_probs = roots.data();
    args.step = Model::step;
    args.model = &model;
    args.hypotheses = hypotheses.data();
    args.tokens = tokens.data();
    args.lengths = lengths.data();
    args.finished = finished.data();
    args.log_probs = log_probs.data();
    args.scores = scores.data();
    args.steps = steps.data();
  }

  void call() { returned = beam_search(&args); }
};

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
