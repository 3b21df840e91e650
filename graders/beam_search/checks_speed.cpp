#include <fmt/format.h>
#include <memory>
#include <optional>

#include "cases.h"
#include "harness/core/error.h"
#include "harness/core/machine.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judging.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct Shape {
  const char* name;
  std::int32_t policy;
  std::int64_t batch;
  std::int64_t beam;
  std::int64_t vocab;
  std::int64_t max_new;
  std::int64_t eos;
};

constexpr Shape kShapes[] = {
    {"first_step_16x131072", BEAM_SEPARATE, 16, 4, 131'072, 1, 1},
    {"separate_8x4x32000", BEAM_SEPARATE, 8, 4, 32'000, 3, 1},
    {"pooled_4x8x50257", BEAM_POOLED, 4, 8, 50'257, 2, 2},
};

/// One round's input and its answer, shared by all contestants of the round.
struct Round {
  Posed posed;
  Seed states;
};

Round make_round(const Shape& shape, Rng& rng) {
  Settings settings;
  settings.policy = shape.policy;
  settings.beam = settings.n_return = shape.beam;
  settings.vocab = shape.vocab;
  settings.max_new = shape.max_new;
  settings.penalty = BEAM_PENALTY_LENGTH;
  settings.alpha = rng.uniform(0.5, 1.5);
  settings.stop = BEAM_STOP_BOUND;
  settings.threads = this_machine().cores;
  settings.eos.clear();
  for (std::int64_t i = 0; i < shape.eos; ++i)
    settings.eos.push_back(static_cast<std::int32_t>(
        rng.integer(i * shape.vocab / shape.eos, (i + 1) * shape.vocab / shape.eos - 1)));
  Posed posed = pose(settings, random_prompts(rng, shape.batch), large_language(rng));
  return {std::move(posed), rng.seed()};
}

RaceSpec spec_for(const Shape& shape) {
  const auto round = std::make_shared<std::optional<Round>>();
  // Every log-prob is read once. Those that the model answers are also carried into the solution's
  // memory, which the clock sees: read and written once more.
  const double roots = static_cast<double>(shape.batch * shape.vocab);
  const double answered = roots * static_cast<double>(shape.beam * (shape.max_new - 1));
  RaceSpec spec;
  spec.case_name = shape.name;
  spec.floor_bytes = 4 * roots + 12 * answered;
  spec.prepare = [round, shape](Rng& inputs, Rng&) { round->emplace(make_round(shape, inputs)); };
  spec.lap = [round](Session& session) {
    return lap_of(session, (*round)->states, (*round)->posed.problem, (*round)->posed.want);
  };
  return spec;
}

void speed(Probe& probe) {
  constexpr RaceBudget kBudget{6, 21, std::chrono::milliseconds(600)};
  for (const Shape& shape : kShapes) probe.race(spec_for(shape), kBudget);
}

}  // namespace

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed", "slow selection", performance, 4, minor}, speed},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
