#pragma once

// A language model for the tests, and the calls that it answers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "contract.h"

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
  double far_down = 0;                         // what a first token costs besides
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
      const double far = path.empty() ? far_down : 0;
      const bool never = static_cast<double>(random.below(1000)) < forbidden * 1000;
      values.push_back(never ? -HUGE_VALF
                             : static_cast<float>(-unit * static_cast<double>(units) - far));
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
