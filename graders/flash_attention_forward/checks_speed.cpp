// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/laps.h"
#include "harness/grading/grader.h"
#include "harness/measure/scaling.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// q, k and v in, o out.
double tensor_bytes(const kit::AttentionProblem& form) {
  const auto row = static_cast<double>(form.dim + form.value_dim);
  const auto rows = static_cast<double>(form.q_heads * form.q_len + form.kv_heads * form.k_len);
  return 4 * static_cast<double>(form.batch) * rows * row;
}

// A lap is about half a gigaflop: at a tenth of the reference's speed a race still takes no more
// than a second. The least work is two products of visible pairs, so that work above the diagonal
// costs points.
void race_lap(Probe& probe, const char* name, TimedLap lap) {
  const kit::AttentionProblem& form = lap.form();
  RaceSpec spec;
  spec.case_name = name;
  spec.floor_flops = 2 * static_cast<double>(form.dim + form.value_dim) * kit::visible_pairs(form);
  spec.floor_bytes = tensor_bytes(form);
  spec.floor_written =
      4 * static_cast<double>(form.batch * form.q_heads * form.q_len * form.value_dim);
  spec.prepare = [&](Rng& inputs, Rng& judge) { lap.prepare(inputs, judge); };
  spec.lap = [&](Session& session) { return lap.run(session); };
  kit::race(probe, {spec});
}

void speed_dim_64(Probe& probe) {
  race_lap(probe, "1024x2048_dim_64", {{1, 1, 1, 1024, 2048, 64, 64}, false, {}, fill_sharp});
}

void speed_dim_128(Probe& probe) {
  race_lap(probe, "512x2048_dim_128", {{1, 1, 1, 512, 2048, 128, 128}, false, {}, fill_sharp});
}

void speed_causal(Probe& probe) {
  race_lap(probe, "causal_2048x2048_climbing",
           {{1, 1, 1, 2048, 2048, 64, 64}, true, kRowsOutside, fill_climbing});
}

void speed_short_sequences(Probe& probe) {
  race_lap(probe, "48_times_160x160",
           {{8, 6, 3, 160, 160, 64, 64}, false, kRowsOutside, fill_sharp});
}

}  // namespace

ScalingQuestion growth_in_length() {
  ScalingQuestion question;
  question.axis = "length";
  question.sizes = {320, 640, 1280, 2560};
  question.at = [](std::int64_t length, Rng& inputs, Rng& judge) {
    const auto lap = std::make_shared<TimedLap>(Sizes{1, 1, 1, length, length, 64, 64}, false,
                                                kit::Layout{}, fill_sharp);
    lap->prepare(inputs, judge);
    return [lap](Session& session) { return lap->run(session); };
  };
  return question;
}

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed_dim_64", "long sequences, heads of 64", performance, 2, minor}, speed_dim_64},
      {{"speed_dim_128", "long sequences, heads of 128", performance, 2, minor}, speed_dim_128},
      {{"speed_causal", "work above the diagonal", performance, 2, minor}, speed_causal},
      {{"speed_short_sequences", "many short sequences", performance, 1, minor},
       speed_short_sequences},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
