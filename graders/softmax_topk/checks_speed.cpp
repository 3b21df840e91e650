// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "graders/kit/laps.h"
#include "harness/grading/grader.h"
#include "harness/measure/scaling.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct Shape {
  const char* name;
  std::int64_t rows;
  std::int64_t vocab;
  std::int64_t k;
  Fill fill;
};

// 16 MiB of logits, every time others, so that they come from memory; less where a solution that
// keeps a sorted list may be slow. Enough for the rounds that an interval needs.
constexpr Shape kFriendly[] = {
    {"batch_32x128256_k50", 32, 128'256, 50, fill_random},
    {"prefill_128x32000_k20", 128, 32'000, 20, fill_random},
    {"one_row_1x4194304_k128", 1, 4'194'304, 128, fill_random},
};
constexpr Shape kHard[] = {
    {"ascending_24x131072_k50", 24, 131'072, 50, fill_ascending},
    {"sawtooth_24x128256_k256", 24, 128'256, 256, fill_sawtooth},
};

RaceSpec spec_for(const Shape& shape) {
  const auto lap = std::make_shared<TimedLap>(shape.rows, shape.vocab, shape.k, shape.fill);
  RaceSpec spec;
  spec.case_name = shape.name;
  // Every logit in once; k indices and probabilities out. Of the work only what nobody can argue
  // with: an exponential and an addition for each logit, as one operation each.
  const double logits = static_cast<double>(shape.rows) * static_cast<double>(shape.vocab);
  spec.input_bytes = 4 * logits;
  spec.floor_written = 8 * static_cast<double>(shape.rows * shape.k);
  spec.floor_bytes = spec.input_bytes + spec.floor_written;
  spec.floor_flops = 2 * logits;
  spec.prepare = [lap](Rng& inputs, Rng& judge) { lap->prepare(inputs, judge); };
  spec.lap = [lap](Session& session) { return lap->run(session); };
  return spec;
}

void race_shapes(Probe& probe, std::span<const Shape> shapes) {
  std::vector<RaceSpec> specs;
  for (const Shape& shape : shapes) specs.push_back(spec_for(shape));
  kit::race(probe, specs);
}

void speed(Probe& probe) {
  race_shapes(probe, kFriendly);
}

void speed_in_any_order(Probe& probe) {
  race_shapes(probe, kHard);
}

}  // namespace

ScalingQuestion growth_in_vocabulary() {
  ScalingQuestion question;
  question.axis = "vocabulary";
  question.sizes = {1 << 17, 1 << 18, 1 << 19, 1 << 20};
  question.at = [](std::int64_t vocab, Rng& inputs, Rng& judge) {
    const auto lap = std::make_shared<TimedLap>(8, vocab, 50, fill_random);
    lap->prepare(inputs, judge);
    return [lap](Session& session) { return lap->run(session); };
  };
  return question;
}

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed", "slowness", performance, 3, minor}, speed},
      {{"speed_in_any_order", "speed on friendly data only", performance, 2, minor},
       speed_in_any_order},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
