// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

std::int64_t bytes_of(const Problem& problem) {
  return problem.rows * problem.vocab * static_cast<std::int64_t>(sizeof(float));
}

/// Scratch memory of one call in a fresh process. A few rows are verified: a wrong answer needs
/// none.
std::int64_t scratch_of(Probe& probe, Rng& rng, const Problem& problem) {
  SoftmaxTopkCall call(problem);
  const std::int64_t peak = kit::fresh_peak_bytes(probe, call);
  const auto sample = random_places(rng, problem.rows, 4);
  require_rows(probe, problem, call.answer(), expect_rows(problem, sample, Sums::plain));
  return peak;
}

// 16 MiB of logits, then 32: what grows with them is a copy of them.
void peak_memory(Probe& probe) {
  constexpr std::int64_t kConstant = std::int64_t{16} << 20;
  constexpr double kShare = 0.04;
  std::int64_t scratch[2]{};
  std::int64_t logits[2]{};
  for (std::int64_t turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(turn == 0 ? "half" : "whole");
    Problem problem = make_problem(rng, 80 * (turn + 1) + rng.integer(-3, 3), 50'257, 50);
    problem.options.threads = 2;
    scratch[turn] = scratch_of(probe, rng, problem);
    logits[turn] = bytes_of(problem);
    probe.workspace_at("rows", static_cast<double>(problem.rows), kit::mib(scratch[turn]));
    probe.answer(ClaimKind::peak_workspace, "scratch memory", kit::mib(scratch[turn]), "MiB");
    const auto allowed =
        kConstant + static_cast<std::int64_t>(kShare * static_cast<double>(logits[turn]));
    if (scratch[turn] > allowed)
      probe.fail(
          fmt::format("holds {:.2f} MiB of scratch memory for {:.2f} MiB of logits, want "
                      "{:.2f} or less",
                      kit::mib(scratch[turn]), kit::mib(logits[turn]), kit::mib(allowed)));
  }
  const double slope =
      static_cast<double>(scratch[1] - scratch[0]) / static_cast<double>(logits[1] - logits[0]);
  probe.fact("growth of scratch memory per byte of logits", slope, "");
  if (!(slope <= 2 * kShare))
    probe.fail(
        fmt::format("scratch memory grows by {:.2f} bytes per byte of logits, want {} or less",
                    slope, 2 * kShare));
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
