#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"
#include "lap_oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Statistics take 8 bytes a row, 16 with a compensated mean in float64.
constexpr std::int64_t kBytesPerRow = 16;
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

std::int64_t measured(Probe& probe, CallBase& call) {
  call.measure_memory = true;
  probe.run_ok(call);
  if (!call.peak_bytes) probe.unmeasured("memory cannot be measured here");
  return *call.peak_bytes;
}

Footprint footprint_of(Probe& probe, const Problem& problem) {
  Footprint seen;
  probe.restart();
  seen.saved = ask_saved_bytes(probe, problem);
  Call<LayernormArgs> forward("layernorm_forward");
  add_forward_inputs(forward, problem);
  forward.out<float>("y", forward.args.y, output_elements(problem));
  std::optional<Output<std::uint8_t>> saved_out;
  if (seen.saved > 0)
    saved_out = forward.out<std::uint8_t>("saved_out", forward.args.saved_out,
                                          static_cast<std::size_t>(seen.saved));
  forward.args.saved_bytes = seen.saved;
  seen.scratch = measured(probe, forward);
  const Bytes saved = saved_out ? saved_out->copy() : Bytes();

  Call<LayernormArgs> backward("layernorm_backward");
  add_backward_inputs(backward, problem, saved);
  const auto cols = static_cast<std::size_t>(problem.cols);
  const auto dx = backward.out<float>("dx", backward.args.dx, output_elements(problem));
  const auto dgamma = backward.out<float>("dgamma", backward.args.dgamma, cols);
  const auto dbeta = backward.out<float>("dbeta", backward.args.dbeta, cols);
  seen.scratch = std::max(seen.scratch, measured(probe, backward));
  probe.require(LapOracle(problem).judge(dx.view(), dgamma.view(), dbeta.view()));
  return seen;
}

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
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
    require_step(probe, problem);  // an answer counts for a shape that then works with it
    probe.earn(share_for(saved, enough, too_much));
  }
}

// x has 8 MiB, then 16: what grows with it is a copy of it. The constant leaves room for libraries,
// thread stacks and sums of dgamma and dbeta, of which a thread may have four in float64.
void peak_memory(Probe& probe) {
  constexpr std::int64_t kCols = 1024;
  constexpr std::int64_t kConstant = std::int64_t{4} << 20;
  Footprint seen[2];
  std::int64_t rows[2]{};
  for (int turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(turn == 0 ? "half" : "whole");
    rows[turn] = 2048 * (turn + 1) + rng.integer(-40, 40);
    const Problem problem = make_big_problem(rng, rows[turn], kCols);
    seen[turn] = footprint_of(probe, problem);
    const double peak = mib(seen[turn].total());
    probe.workspace_at("rows", static_cast<double>(rows[turn]), peak);
    probe.answer(ClaimKind::peak_workspace, "peak memory besides the caller's arrays", peak, "MiB");
    const std::int64_t allowed = kConstant + problem.threads * 64 * kCols + 16 * rows[turn];
    if (seen[turn].total() > allowed)
      probe.fail(
          fmt::format("holds {:.2f} MiB ({:.2f} saved, {:.2f} scratch) for an x of {:.2f} MiB,"
                      " want {:.2f} or less",
                      mib(seen[turn].total()), mib(seen[turn].saved), mib(seen[turn].scratch),
                      mib(4 * kCols * rows[turn]), mib(allowed)));
  }
  const double slope = static_cast<double>(seen[1].total() - seen[0].total()) /
                       static_cast<double>((rows[1] - rows[0]) * kCols);
  probe.fact("growth of memory per element of x", slope, "B");
  if (slope > 0.25)
    probe.fail(
        fmt::format("memory grows by {:.2f} bytes per element of x, want 0.25 or less", slope));
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
