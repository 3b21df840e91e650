#include <fmt/format.h>
#include <limits>

#include "graders/kit/compare.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"
#include "lap_oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// More threads than rows, rows that do not divide, one thread: no row may be lost or counted twice,
// no sum updated by two at once.
void thread_counts(Probe& probe) {
  constexpr int kRuns = 2;
  for (const int threads : {1, 2, 3, 5, 8, 16}) {
    for (const bool few_rows : {false, true}) {
      Rng rng =
          probe.begin_case(fmt::format("{}_threads_{}_rows", threads, few_rows ? "few" : "many"));
      const std::int64_t rows =
          few_rows ? rng.integer(1, threads + 1) : rng.integer(2000, 4000) / threads * threads + 1;
      Problem problem = make_big_problem(rng, rows, near_to(rng, few_rows ? 3000 : 64));
      problem.threads = threads;
      if (few_rows) problem.gamma.clear();
      const Expected expected = expect(problem);
      for (int run = 0; run < (few_rows ? 1 : kRuns); ++run)
        require_gradients(probe, problem, run_step(probe, problem), expected);
    }
  }
}

// Steps of the size that people run, where solutions take other paths than for small ones; far from
// zero as well, as far as a running float sum can follow (see offset_ladder).
void large_step(Probe& probe) {
  constexpr std::int64_t kElements = 3'000'000;
  for (const std::int64_t cols : {60, 1000, 60'000}) {
    Rng rng = probe.begin_case(fmt::format("about_{}_columns", cols));
    const std::int64_t width = cols + rng.integer(-cols / 20, cols / 20);
    const double offset = log_uniform(rng, 1e6, 2e6) / static_cast<double>(width);
    const Problem problem = make_big_problem(rng, kElements / width, width, {offset, 1, 0.3, 1});
    const LapOracle oracle(problem);
    const Answer answer = run_step(probe, problem);
    probe.require(oracle.judge_forward(answer.y));
    probe.require(oracle.judge(answer.dx, answer.dgamma, answer.dbeta));
  }
}

// Asked to be deterministic, twelve runs give the same bits; each is long enough for threads to
// meet.
void deterministic_bits(Probe& probe) {
  Rng rng = probe.begin_case("twelve_runs");
  Problem problem = make_big_problem(rng, rng.integer(15'000, 20'000), rng.integer(40, 80));
  problem.deterministic = true;
  Answer first;
  const Bytes saved = run_forward(probe, problem, first);
  run_backward(probe, problem, saved, first);
  require_gradients(probe, problem, first, expect(problem));
  for (int run = 1; run < 12; ++run) {
    Answer again;
    run_backward(probe, problem, saved, again);
    const auto same = [&](const char* name, const std::vector<float>& got,
                          const std::vector<float>& want, std::vector<std::int64_t> extents) {
      if (const auto miss = kit::first_difference(std::span<const float>(got), want,
                                                  kit::index_namer(name, std::move(extents))))
        probe.fail(*miss, {fmt::format("run {} against the first, same arguments", run + 1)});
    };
    same("dx", again.dx, first.dx, {problem.rows, problem.cols});
    same("dgamma", again.dgamma, first.dgamma, {problem.cols});
    same("dbeta", again.dbeta, first.dbeta, {problem.cols});
  }
}

// A row of NaN and one with an infinity may spoil themselves and the sums over rows, nothing else.
void row_isolation(Probe& probe) {
  for (const std::int64_t cols : {12, 300}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    Problem problem = make_problem(rng, rng.integer(8, 24), near_to(rng, cols));
    const std::int64_t nan_row = rng.integer(0, problem.rows - 1);
    const std::int64_t inf_row = rng.integer(0, problem.rows - 1);
    problem.x.row(nan_row)[0] = std::numeric_limits<float>::quiet_NaN();
    problem.dy.row(inf_row)[1] = std::numeric_limits<float>::infinity();
    const Answer answer = run_step(probe, problem);
    const Expected expected = expect(problem);
    for (std::int64_t i = 0; i < problem.rows; ++i)
      if (i != nan_row && i != inf_row) require_dx_row(probe, problem, answer, expected, i);
  }
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"row_isolation", "a NaN or an infinity that leaves its row", robustness, 1, major},
       row_isolation},
      {{"thread_counts", "rows lost or doubled between threads", robustness, 2, major},
       thread_counts},
      {{"large_step", "paths that are taken for large inputs only; threads that race", robustness,
        2, major},
       large_step},
      {{"deterministic_bits", "results that depend on how threads interleave", robustness, 1,
        minor},
       deterministic_bits},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
