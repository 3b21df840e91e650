// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "footprint.h"
#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int64_t kFixedBytes = 1024;

/// All points for statistics, none for half of x, in between by the logarithm.
double share_for(std::int64_t saved, std::int64_t enough, std::int64_t too_much) {
  const double over = static_cast<double>(std::max(saved, enough)) / static_cast<double>(enough);
  return 1 - std::log(over) / std::log(static_cast<double>(too_much) / static_cast<double>(enough));
}

/// Bytes that a solution holds for one step: what it saves, and what it allocates on top of the
/// caller's arrays at the worst moment.
struct Footprint {
  std::int64_t saved = 0;
  std::int64_t scratch = 0;
  std::int64_t total() const { return saved + scratch; }
};

/// Of a whole step in a fresh process: what the forward pass keeps there counts in the backward
/// pass as well.
Footprint footprint_of(Probe& probe, const Problem& problem) {
  probe.restart();
  ForwardCall forward(problem, ask_saved_bytes(probe, problem));
  const std::int64_t forward_peak = kit::peak_bytes(probe, forward);
  const Bytes saved = forward.saved();
  BackwardCall backward(problem, saved);
  const std::int64_t backward_peak = kit::peak_bytes(probe, backward);
  const Answer answer = gradients_of(probe, problem, backward);
  probe.require(LapOracle(problem).judge_gradients(answer.dx, answer.dgamma, answer.dbeta));
  return {std::ssize(saved), std::max(forward_peak, backward_peak)};
}

// Bytes, not items: mean and rstd are 8 bytes a row, a saved xhat is as large as x.
void saved_bytes(Probe& probe) {
  std::optional<Interval> per_row;
  for (const std::int64_t cols : {100, 1000, 16'000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    const Problem problem =
        make_big_problem(rng, rng.integer(100'000, 200'000) / cols, cols + rng.integer(-9, 9));
    const std::int64_t saved = ask_saved_bytes(probe, problem);
    const double each = static_cast<double>(saved) / static_cast<double>(problem.rows);
    per_row = per_row ? Interval{std::min(per_row->low, each), std::max(per_row->high, each)}
                      : Interval{each, each};
    probe.answer(ClaimKind::saved_bytes, "saved bytes per row, at most", per_row->high, "B",
                 per_row);
    const std::int64_t enough = kBytesPerRow * problem.rows + kFixedBytes;
    const std::int64_t too_much = 2 * problem.rows * problem.cols;
    if (saved > too_much)
      probe.fail(fmt::format("saves {} bytes for {} x {}, want {} or less ({} are enough)", saved,
                             problem.rows, problem.cols, too_much, enough));
    require_right(probe, problem);  // an answer counts for a shape that then works with it
    probe.earn(share_for(saved, enough, too_much));
  }
  Rng rng = probe.begin_case("many_rows");
  require_wide_saved_bytes(probe, rng);
  rng = probe.begin_case("kept_elsewhere");
  require_nothing_kept(probe, rng);
}

// x has 8 MiB, then 16, with gaps between its rows: what grows with it is a copy of it.
void peak_memory(Probe& probe) {
  constexpr std::int64_t kCols = 1024;
  Footprint seen[2];
  std::int64_t rows[2]{};
  for (std::int64_t turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(turn == 0 ? "half" : "whole");
    rows[turn] = 2048 * (turn + 1) + rng.integer(-40, 40);
    const Gaps gaps = turn == 0 ? Gaps{} : Gaps{1, 2, 3, 4};
    const Problem problem = make_big_problem(rng, rows[turn], kCols, {}, gaps);
    seen[turn] = footprint_of(probe, problem);
    const double peak = kit::mib(seen[turn].total());
    probe.workspace_at("rows", static_cast<double>(rows[turn]), peak);
    probe.answer(ClaimKind::peak_workspace, "peak memory besides the caller's arrays", peak, "MiB");
    const std::int64_t allowed = allowed_bytes(probe, problem);
    if (seen[turn].total() > allowed)
      probe.fail(fmt::format(
          "holds {:.2f} MiB ({:.2f} saved, {:.2f} scratch) for an x of {:.2f} MiB,"
          " want {:.2f} or less",
          kit::mib(seen[turn].total()), kit::mib(seen[turn].saved), kit::mib(seen[turn].scratch),
          kit::mib(4 * kCols * rows[turn]), kit::mib(allowed)));
  }
  const double slope = static_cast<double>(seen[1].total() - seen[0].total()) /
                       static_cast<double>((rows[1] - rows[0]) * kCols);
  probe.fact("growth of memory per element of x", slope, "B");
  if (slope > 0.25)
    probe.fail(
        fmt::format("memory grows by {:.2f} bytes per element of x, want 0.25 or less", slope));
  Rng rng = probe.begin_case("fewer_outputs");
  require_little_for_fewer(probe, rng);
  rng = probe.begin_case("other_shapes");
  require_little_for_shapes(probe, rng);
  rng = probe.begin_case("any_alignment");
  require_little_for_alignment(probe, rng);
  rng = probe.begin_case("many_calls");
  require_nothing_kept(probe, rng);
}

}  // namespace

std::vector<Check> memory_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"saved_bytes", "saving xhat instead of the statistics", performance, 1, major},
       saved_bytes},
      {{"peak_memory", "scratch memory that grows with the input", performance, 1, major},
       peak_memory},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
