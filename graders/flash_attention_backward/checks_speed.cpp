// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/laps.h"
#include "harness/grading/grader.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// The least work is five products of visible pairs by head_dim: scores, dP, dv, dk and dq.
void race_lap(Probe& probe, const char* name, TimedLap lap) {
  const kit::AttentionProblem& form = lap.form();
  RaceSpec spec;
  spec.case_name = name;
  spec.floor_flops = 10 * static_cast<double>(form.dim) * kit::visible_pairs(form);
  spec.prepare = [&](Rng& inputs, Rng& judge) { lap.prepare(inputs, judge); };
  spec.lap = [&](Session& session) { return lap.run(session); };
  kit::race(probe, {spec});
}

void speed_full(Probe& probe) {
  race_lap(probe, "512 queries, 2048 keys, head_dim 64, 2 heads",
           {{1, 2, 2, 512, 2048, 64, 64}, false});
}

// One head: whoever gives each thread a head of its own runs on one thread.
void speed_causal(Probe& probe) {
  race_lap(probe, "1536 x 1536, head_dim 128, causal", {{1, 1, 1, 1536, 1536, 128, 128}, true});
}

void speed_grouped(Probe& probe) {
  race_lap(probe, "384 x 384, head_dim 64, causal, heads 8/2, batch 2",
           {{2, 8, 2, 384, 384, 64, 64}, true});
}

}  // namespace

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed_full", "slow at full attention", performance, 1, minor}, speed_full},
      {{"speed_causal", "slow at causal attention", performance, 1, minor}, speed_causal},
      {{"speed_grouped", "slow at many short heads", performance, 1, minor}, speed_grouped},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
