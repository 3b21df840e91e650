// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/laps.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// The least that a call has to move and to compute.
struct Floor {
  double bytes = 0;
  double written = 0;  // of these
  double flops = 0;
};

template <class TimedLap>
void race_lap(Probe& probe, const char* name, const Floor& floor) {
  TimedLap lap;
  RaceSpec spec;
  spec.case_name = name;
  spec.floor_bytes = floor.bytes;
  spec.floor_written = floor.written;
  spec.floor_flops = floor.flops;
  spec.prepare = [&](Rng& inputs, Rng& judge) { lap.prepare(inputs, judge); };
  spec.lap = [&](Session& session) { return lap.run(session); };
  kit::race(probe, {spec});
}

// Windows of the graded model: what evaluation and generation are made of.
void forward_speed(Probe& probe) {
  constexpr TernaryModel kModel = ForwardLap::kModel;
  const double logits = 4.0 * kModel.context * kModel.vocab;
  const auto weights = static_cast<double>(checkpoint_bytes_of(kModel));
  race_lap<ForwardLap>(probe, "window_of_128", {.bytes = weights + logits, .written = logits});
}

// A matrix of four million weights, 16 MiB: read once, a sixteenth of it written.
void quantize_speed(Probe& probe) {
  constexpr double kWeights = QuantizeLap::kRows * QuantizeLap::kColumns;
  race_lap<QuantizeLap>(probe, "matrix_2048x2048",
                        {.bytes = 4.25 * kWeights, .written = 0.25 * kWeights});
}

// The largest layer of the graded model, and the tokens of a training step. The gradient of the
// weights takes a product and a sum a term; the other two products may do with sums alone.
void gradient_speed(Probe& probe) {
  constexpr double kTerms = GradientLap::kRows * GradientLap::kColumns * GradientLap::kCount;
  race_lap<GradientLap>(probe, "layer_384x128_1024_vectors", {.flops = 2 * kTerms});
}

}  // namespace

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"forward_speed", "slow evaluation", performance, 2, minor}, forward_speed},
      {{"quantize_speed", "slow quantisation", performance, 1, minor}, quantize_speed},
      {{"gradient_speed", "slow training steps", performance, 2, minor}, gradient_speed},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
