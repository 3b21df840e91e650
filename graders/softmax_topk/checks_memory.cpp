// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "graders/kit/device.h"
#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Scratch memory of one call in a fresh process. A few rows are verified: a wrong answer needs
/// none.
std::int64_t scratch_of(Probe& probe, Rng& rng, const Problem& problem) {
  SoftmaxTopkCall call(problem);
  const std::int64_t peak = kit::fresh_peak_bytes(probe, call);
  const auto sample = random_places(rng, problem.rows, 4);
  require_rows(probe, problem, call.answer(), expect_rows(problem, sample, Sums::plain));
  return peak;
}

void ask_long_rows(Probe& probe) {
  Rng rng = probe.begin_case("lengths");
  const bool device = kit::on_device(probe);
  Problem problem =
      make_problem(rng, device ? 40 : 34, device ? 50'257 : (1 << 18) - rng.integer(0, 99), 50);
  problem.options.threads = 33;
  for (std::int64_t i = 0; i < problem.rows; ++i)
    problem.valid_len.push_back(problem.vocab - rng.integer(0, 99));
  require_scratch(probe, problem, scratch_of(probe, rng, problem));
  if (device) return;
  problem.k = 1024;  // by other ways than few
  require_scratch(probe, problem, scratch_of(probe, rng, problem));
}

// 16 MiB of logits, then 32: what grows with them is a copy of them. A quarter of that on a device,
// where nothing but the solution's own allocations counts. Winners are as many as there may be, so
// that whoever keeps what they are looked for by does so for one row at a time. At the end come
// long rows, which have lengths of their own, and are no more copied than others: not even by each
// of many threads that which it is at. large_batch has rows so short that a few bytes for each are
// too much.
void peak_memory(Probe& probe) {
  const std::int64_t half = kit::on_device(probe) ? 20 : 80;
  const std::int64_t winners = kit::on_device(probe) ? 50 : 1024;
  std::int64_t scratch[2]{};
  std::int64_t logits[2]{};
  for (std::int64_t turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(turn == 0 ? "half" : "whole");
    Problem problem = make_problem(rng, half * (turn + 1) + rng.integer(-3, 3), 50'257, winners);
    problem.options.threads = 2;
    scratch[turn] = scratch_of(probe, rng, problem);
    logits[turn] = logit_bytes(problem);
    probe.workspace_at("rows", static_cast<double>(problem.rows), kit::mib(scratch[turn]));
    probe.answer(ClaimKind::peak_workspace, "scratch memory", kit::mib(scratch[turn]), "MiB");
    require_scratch(probe, problem, scratch[turn]);
  }
  ask_long_rows(probe);
  if (!kit::on_device(probe)) require_freed_of_every_kind(probe, Outputs::fewest);
  const double slope =
      static_cast<double>(scratch[1] - scratch[0]) / static_cast<double>(logits[1] - logits[0]);
  probe.fact("growth of scratch memory per byte of logits", slope, "");
  if (!(slope <= 2 * kScratchShare))
    probe.fail(
        fmt::format("scratch memory grows by {:.2f} bytes per byte of logits, want {} or less",
                    slope, 2 * kScratchShare));
}

}  // namespace

std::vector<Check> memory_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"peak_memory", "probabilities of the whole batch written down", performance, 1.5, critical},
       peak_memory},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
