// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graders/kit/threads.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Short rows, which are work rather than memory, and enough of it for threads to be counted.
void limit_threads(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_threads_at_most", threads));
  Problem problem = make_big_problem(rng, rng.integer(800'000, 810'000), 8);
  give_drawn_statistics(rng, problem);
  const LapOracle oracle(problem);
  CallOptions options;
  options.threads = threads;
  kit::require_thread_limit(probe, threads, [&] {
    BackwardCall call(problem, {}, options);
    probe.run_ok(call);
    probe.require(oracle.judge_gradients(call.dx->view(), call.dgamma->view(), call.dbeta->view()));
  });
}

void thread_limit(Probe& probe) {
  for (const int threads : {1, 2, 3}) limit_threads(probe, threads);
}

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
      CallOptions options;
      options.threads = threads;
      if (few_rows) problem.gamma.clear();
      const Expected expected = expect(problem);
      for (int run = 0; run < (few_rows ? 1 : kRuns); ++run)
        require_gradients(probe, problem, run_step(probe, problem, options), expected);
    }
  }
  limit_threads(probe, 1);
}

// Asked to be deterministic, twelve runs give the same bits; each is long enough for threads to
// meet.
void deterministic_bits(Probe& probe) {
  Rng rng = probe.begin_case("twelve_runs");
  const Problem problem = make_big_problem(rng, rng.integer(15'000, 20'000), rng.integer(40, 80));
  CallOptions options;
  options.deterministic = true;
  Answer first;
  const Bytes saved = run_forward(probe, problem, first, options);
  run_backward(probe, problem, saved, first, options);
  require_gradients(probe, problem, first, expect(problem));
  for (int run = 1; run < 12; ++run) {
    Answer again;
    run_backward(probe, problem, saved, again, options);
    require_same_gradients(probe, problem, again, first,
                           fmt::format("run {} against the first, same arguments", run + 1));
  }
}

// A row of NaN and one with an infinity may spoil themselves and the sums over rows, nothing else.
void row_isolation(Probe& probe) {
  for (const std::int64_t cols : {12, 300}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    Problem problem = make_problem(rng, rng.integer(8, 24), near_to(rng, cols));
    const std::int64_t nan_row = rng.integer(0, problem.rows - 1);
    const std::int64_t inf_row = rng.integer(0, problem.rows - 1);
    problem.x.row(nan_row)[0] = kit::kNan;
    problem.dy.row(inf_row)[1] = kit::kInfinity;
    const Answer answer = run_step(probe, problem);
    const Expected expected = expect(problem);
    for (std::int64_t i = 0; i < problem.rows; ++i)
      if (i != nan_row && i != inf_row) require_row(probe, problem, answer, expected, i);
  }
}

// Two steps of one shape under way at the same time, in an order of our choosing, the second half
// of them in a process that has never seen the first: all that counts is in the arguments.
void saved_state(Probe& probe) {
  for (const bool fresh : {false, true})
    for (const std::int64_t cols : {9, 200}) {
      Rng rng = probe.begin_case(
          fmt::format("near_{}_columns_{}", cols, fresh ? "fresh_process" : "same_process"));
      const std::int64_t rows = rng.integer(5, 40);
      const std::int64_t width = near_to(rng, cols);
      const Problem first = make_problem(rng, rows, width, {2, 1, 0.3, 1});
      const Problem second = make_problem(rng, rows, width, {-1, 3, 0.3, 1});
      Answer of_first;
      Answer of_second;
      const Bytes saved_first = run_forward(probe, first, of_first);
      const Bytes saved_second = run_forward(probe, second, of_second);
      if (fresh) probe.restart();
      run_backward(probe, first, saved_first, of_first);
      require_gradients(probe, first, of_first, expect(first));
      run_backward(probe, second, saved_second, of_second);
      require_gradients(probe, second, of_second, expect(second));
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
      {{"thread_limit", "more threads at work than num_threads", robustness, 1, major},
       thread_limit},
      {{"saved_state", "state kept elsewhere than in the saved bytes", robustness, 2, major},
       saved_state},
      {{"deterministic_bits", "results that depend on how threads interleave", robustness, 1,
        minor},
       deterministic_bits},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
