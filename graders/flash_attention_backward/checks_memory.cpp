#include <fmt/format.h>

#include "ask.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "large.h"
#include "samples.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr double kMiB = 1 << 20;

/// The contract's own.
double limit_for(const Sizes& sizes) {
  const double results = 4.0 * static_cast<double>(sizes.q_len * sizes.dim +
                                                   sizes.k_len * (sizes.dim + sizes.value_dim));
  return 16 * kMiB + 8 * results;
}

/// Peak memory of one call, whose answer must be right. Within the limit at any length: who holds
/// more than it needs of the short one would have the slope of a good one.
double peak_for(Probe& probe, Rng& rng, const Sizes& sizes) {
  Problem problem = hollow_problem(sizes);
  fill_quickly(problem, rng);
  const Samples samples(problem, rng, kSampledRows);
  const Asking asking;
  Question question(problem, asking);
  question.call.measure_memory = true;
  probe.run_ok(question.call);
  probe.require(samples.miss(question.answer(probe)));
  if (!question.call.peak_bytes) probe.unmeasured("this machine does not tell peak memory");
  const auto peak = static_cast<double>(*question.call.peak_bytes);
  if (const double allowed = limit_for(sizes); !(peak <= allowed))
    probe.fail(fmt::format("{:.1f} MiB; allowed are {:.1f}", peak / kMiB, allowed / kMiB));
  return peak;
}

// Twice the length may take twice the scratch memory, not four times.
void memory_slope(Probe& probe) {
  Rng rng = probe.begin_case("length doubled");
  const std::int64_t length = rng.integer(1250, 1350);  // twice that breaks the limit
  double peak[2]{};
  for (int turn = 0; turn < 2; ++turn) {
    const std::int64_t rows = (turn + 1) * length;
    peak[turn] = peak_for(probe, rng, {1, 1, 1, rows, rows, 8, 8});
    probe.workspace_at("length", static_cast<double>(rows), peak[turn] / kMiB);
    probe.answer(ClaimKind::peak_workspace, "peak memory", peak[turn] / kMiB, "MiB");
  }
  const auto [once, twice] = peak;
  const double allowed = 2.3 * once + kMiB;  // a MiB for stacks and the allocator
  if (!(twice <= allowed))
    probe.fail(
        fmt::format("{:.1f} MiB at {} queries and keys, {:.1f} MiB at twice as many; allowed "
                    "are {:.1f}",
                    once / kMiB, length, twice / kMiB, allowed / kMiB));
}

// The contract's own limit, which the scores in float32 alone would break.
void memory_limit(Probe& probe) {
  Rng rng = probe.begin_case("16 MiB and eight times the results");
  peak_for(probe, rng, {1, 1, 1, rng.integer(1500, 1600), rng.integer(4400, 4500), 8, 8});
}

}  // namespace

std::vector<Check> memory_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"memory_slope", "a matrix of all scores in memory", performance, 1, critical},
       memory_slope},
      {{"memory_limit", "more scratch memory than the contract allows", performance, 1, major},
       memory_limit},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
