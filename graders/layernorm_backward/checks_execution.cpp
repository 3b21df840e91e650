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

/// The gradients of deterministic runs, with given statistics.
void require_same_bits(Probe& probe, Problem problem, CallOptions options) {
  constexpr int kRuns = 8;
  options.deterministic = 2;
  options.dx = false;
  give_true_statistics(problem);
  const Answer first = run_step(probe, problem, options);
  for (int run = 1; run < kRuns; ++run)
    require_same_gradients(probe, problem, run_step(probe, problem, options), first,
                           "the first of some deterministic runs");
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
      if (!few_rows && threads == 16) require_same_bits(probe, problem, options);
    }
  }
  limit_threads(probe, 1);
}

// Asked to be deterministic, runs give the same bits; each is long enough for threads to meet. Sums
// of three threads and more depend on who is first, where those of two do not.
void deterministic_bits(Probe& probe) {
  constexpr int kRuns = 6;
  Rng rng = probe.begin_case("two_threads");
  const Problem problem = make_big_problem(rng, rng.integer(15'000, 20'000), rng.integer(40, 80));
  const Expected expected = expect(problem);
  for (const int threads : {2, 8}) {
    if (threads == 8) probe.begin_case("eight_threads");
    CallOptions options;
    options.threads = threads;
    options.deterministic = threads == 2 ? 1 : -2;
    Answer first;
    const Bytes saved = run_forward(probe, problem, first, options);
    run_backward(probe, problem, saved, first, options);
    require_gradients(probe, problem, first, expected);
    for (int run = 1; run < kRuns; ++run) {
      Answer again;
      run_backward(probe, problem, saved, again, options);
      require_same_gradients(probe, problem, again, first,
                             fmt::format("run {} against the first, same arguments", run + 1));
    }
  }
}

// A row of NaN and one with an infinity may spoil themselves and the sums over rows, nothing else.
void row_isolation(Probe& probe) {
  for (const std::int64_t cols : {12, 300}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_columns", cols));
    Problem problem = make_problem(rng, rng.integer(8, 24), near_to(rng, cols));
    // In the shorter rows, each early among those of one of two threads.
    const std::int64_t half = cols < 100 ? problem.rows / 2 : 0;
    const std::int64_t last = cols < 100 ? problem.rows / 4 : problem.rows - 1;
    const std::int64_t nan_row = rng.integer(0, last);
    const std::int64_t inf_row = half + rng.integer(0, last);
    problem.x.row(nan_row)[0] = kit::kNan;
    problem.dy.row(inf_row)[1] = kit::kInfinity;
    problem.bad_rows = {nan_row, inf_row};
    require_right_with_y(probe, problem);
  }
}

// Two steps of one shape under way at the same time, in an order of our choosing: all that counts
// is in the arguments. In the same process the saved bytes of both lie in the same memory, one
// after the other; or the second half is asked of a process that has never seen the first.
void saved_state(Probe& probe) {
  for (const bool fresh : {false, true})
    for (const std::int64_t cols : {9, 200}) {
      Rng rng = probe.begin_case(
          fmt::format("near_{}_columns_{}", cols, fresh ? "fresh_process" : "same_process"));
      const std::int64_t rows = rng.integer(5, 40);
      const std::int64_t width = near_to(rng, cols);
      const Problem first = make_problem(rng, rows, width, {2, 1, 0.3, 1});
      Problem second = make_problem(rng, rows, width, {-1, 3, 0.3, 1});
      second.eps = rng.uniform(1, 2);
      CallOptions options;
      options.saved_stays = !fresh;
      Answer of_first;
      Answer of_second;
      const Bytes saved_first = run_forward(probe, first, of_first, options);
      const Bytes saved_second = run_forward(probe, second, of_second, options);
      if (fresh) probe.restart();
      run_backward(probe, first, saved_first, of_first, options);
      require_gradients(probe, first, of_first, expect(first));
      run_backward(probe, second, saved_second, of_second, options);
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
