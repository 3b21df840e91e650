// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "graders/kit/laps.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct Shape {
  const char* name;
  LapSizes sizes;
};

constexpr Shape kShapes[] = {
    {"first_step_16x131072", {BEAM_SEPARATE, 16, 4, 131'072, 1, 1}},
    {"separate_8x4x32000", {BEAM_SEPARATE, 8, 4, 32'000, 3, 1}},
    {"pooled_4x8x50257", {BEAM_POOLED, 4, 8, 50'257, 2, 2}},
};

RaceSpec spec_for(const Shape& shape) {
  const LapSizes& sizes = shape.sizes;
  const auto lap = std::make_shared<TimedLap>(sizes);
  // Every log-prob is read once. Those that the model answers are also carried into the solution's
  // memory, which the clock sees: read and written once more.
  const double roots = static_cast<double>(sizes.batch * sizes.vocab);
  const double answered = roots * static_cast<double>(sizes.beam * (sizes.max_new - 1));
  RaceSpec spec;
  spec.case_name = shape.name;
  spec.floor_bytes = 4 * roots + 12 * answered;
  spec.floor_written = 4 * answered;
  spec.prepare = [lap](Rng& inputs, Rng&) { lap->prepare(inputs); };
  spec.lap = [lap](Session& session) { return lap->run(session); };
  return spec;
}

void speed(Probe& probe) {
  std::vector<RaceSpec> specs;
  for (const Shape& shape : kShapes) specs.push_back(spec_for(shape));
  kit::race(probe, specs);
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
