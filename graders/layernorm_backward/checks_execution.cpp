// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <map>

#include "graders/kit/bits.h"
#include "graders/kit/threads.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Each pass by itself: few threads of a longer one hide many of a shorter. As many elements as it
/// takes for threads to be counted. Passes are asked for all that they can write, and for less: for
/// the statistics, for the gradients that are sums.
void limit_threads(Probe& probe, int threads, CallOptions options, const Problem& problem) {
  const LapOracle oracle(problem);
  kit::JudgedBits y, gradients;
  // By the number of threads, from which they may follow.
  std::map<int, std::int64_t> saved_bytes;
  std::map<int, Bytes> saved;
  const auto forward = [&](int count) {
    options.threads = count;
    if (!saved_bytes.contains(count)) saved_bytes[count] = ask_saved_bytes(probe, problem, options);
    ForwardCall call(problem, saved_bytes[count], options);
    probe.run_ok(call);
    if (call.y && y.are_new(call.y->view())) probe.require(oracle.judge_y(call.y->view()));
    saved[count] = call.saved();
  };
  const auto backward = [&](int count) {
    if (!saved.contains(count)) forward(count);
    options.threads = count;
    BackwardCall call(problem, saved.at(count), options);
    probe.run_ok(call);
    if (call.dx && gradients.are_new(call.dx->view(), call.dgamma->view(), call.dbeta->view()))
      probe.require(
          oracle.judge_gradients(call.dx->view(), call.dgamma->view(), call.dbeta->view()));
  };
  kit::require_thread_limit(probe, threads, forward);
  kit::require_thread_limit(probe, threads, backward);
}

/// More threads than most machines have cores, and rows for each of them: long ones, and as many as
/// a float cannot cut into so many blocks.
void ask_many_threads(Probe& probe) {
  CallOptions options;
  Rng rng = probe.begin_case("more_than_64_threads_long_rows");
  options.threads = static_cast<int>(rng.integer(65, 200));
  const std::int64_t rows = options.threads + rng.integer(1, 9);
  require_right(probe, make_big_problem(rng, rows, rng.integer(4097, 4400)), options);

  rng = probe.begin_case("more_than_64_threads_rows_beyond_float");
  options.threads = 2 * static_cast<int>(rng.integer(35, 63)) + 1;
  require_right_with_y(probe, make_big_problem(rng, rows_that_float_loses(rng, options.threads), 2),
                       options);
}

/// Of rows that are alike, but for the first, the last and one between: what is added up is exact.
void ask_tall_sums(Probe& probe, Rng rng) {
  CallOptions options;
  options.threads = kit::kManyThreads;
  options.y = options.dx = false;
  Problem problem = make_tall_problem(rng, options.threads);
  for (const char* where : {"first", "random", "last"})
    problem.dy.row(index_at(rng, where, problem.rows))[0] += 1;
  problem.mean.assign(problem.dy.all().size(), 0.5f);
  problem.rstd.assign(problem.mean.size(), 1.0f);
  problem.mean.back() = 1.5f;
  probe.restart();
  const Answer answer = run_step(probe, problem, options);
  probe.restart();  // threads that wait for more would cost time with every call
  const auto count = static_cast<float>(problem.rows + 3);
  const float want = -0.5f * count - problem.dy.row(problem.rows - 1)[0];
  if (answer.dgamma[0] != want || answer.dbeta[0] != count)
    probe.fail(fmt::format("dgamma[0] is {} and dbeta[0] is {}, want {} and {}", answer.dgamma[0],
                           answer.dbeta[0], want, count),
               {fmt::format("{} rows x 1 column, {} threads, dy one, but for three rows of more",
                            problem.rows, options.threads)});
}

CallOptions asked_for_less(std::int32_t deterministic = 0) {
  CallOptions options;
  options.deterministic = deterministic;
  options.y = options.dx = false;
  return options;
}

/// Many short rows, which are work rather than memory.
Problem many_short_rows(Rng& rng) {
  return make_big_problem(rng, rng.integer(2'400'000, 2'440'000), 3);
}

// Of few wide rows the columns may be what is shared out. A thread's stack of 8 MiB has no room for
// two floats of each, nor for one of each in the widest, which may be where an unwanted sum goes.
void thread_limit(Probe& probe) {
  Rng rng = probe.begin_case("one_thread_at_most_of_wide_rows");
  const Problem wide = make_wide_problem(rng, 6, rng.integer(1'150'000, 1'250'000));
  limit_threads(probe, 1, {}, wide);
  limit_threads(probe, 1, asked_for_less(), wide);
  rng = probe.begin_case("one_thread_at_most_of_the_widest_row");
  CallOptions least = asked_for_less();
  (rng.chance(0.5) ? least.dgamma : least.dbeta) = false;
  limit_threads(probe, 1, least, make_wide_problem(rng, 1, rng.integer(2'100'000, 2'120'000)));
  rng = probe.begin_case("three_threads_at_most");
  limit_threads(probe, 3, {}, many_short_rows(rng));
}

/// The gradients of deterministic runs, with given statistics. Any number but 0 asks for them. What
/// a thread does is to take longer than starting the next one, or all are done in their order.
void require_same_bits(Probe& probe, Problem problem, CallOptions options) {
  constexpr int kRuns = 8;
  options.deterministic = -1;
  options.dx = false;
  give_true_statistics(problem);
  const Answer first = run_step(probe, problem, options);
  for (int run = 1; run < kRuns; ++run)
    require_same_gradients(probe, problem, run_step(probe, problem, options), first,
                           "the first of some deterministic runs");
}

// More threads than rows, rows that do not divide, one thread: no row may be lost or counted twice,
// no sum updated by two at once. Of few rows it may be columns that are shared out, where sums are
// all that is wanted.
void thread_counts(Probe& probe) {
  constexpr int kRuns = 2;
  for (const int threads : {1, 2, 3, 5, 7, 16}) {
    for (const bool few_rows : {false, true}) {
      Rng rng =
          probe.begin_case(fmt::format("{}_threads_{}_rows", threads, few_rows ? "few" : "many"));
      const std::int64_t rows = few_rows ? rng.integer(1, threads + 1)
                                : threads == 7
                                    ? cut_that_double_loses(rng, {2000, 7}, {4000, 7}).rows
                                    : rng.integer(2000, 4000) / threads * threads + 1;
      Problem problem = make_big_problem(rng, rows, near_to(rng, few_rows ? 3000 : 64));
      CallOptions options;
      options.threads = threads;
      if (few_rows) problem.gamma.clear();
      const Expected expected = expect(problem);
      for (int run = 0; run < kRuns; ++run) {
        const Answer answer = run_step(probe, problem, options);
        require_y(probe, problem, answer, expected);
        require_gradients(probe, problem, answer, expected);
        if (!few_rows) continue;
        options.threads = threads + 2;
        options.y = options.dx = false;
      }
      if (few_rows || threads < 16) continue;
      require_same_bits(probe, make_big_problem(rng, rng.integer(12'000, 16'000), problem.cols),
                        options);
    }
  }
  ask_many_threads(probe);
  ask_tall_sums(probe, probe.begin_case("rows_times_threads_beyond_2_to_the_32"));
  Rng rng = probe.begin_case("one_thread_at_most");
  const Problem short_rows = many_short_rows(rng);
  limit_threads(probe, 1, {{.deterministic = 1}}, short_rows);
  limit_threads(probe, 1, asked_for_less(1), short_rows);
}

/// A whole step of rows so few that their columns may be what is shared out, in the forward pass as
/// well.
void require_same_bits_of_wide_rows(Probe& probe, Rng rng) {
  constexpr int kRuns = 4;
  const Problem problem = make_big_problem(rng, 2, rng.integer(150'000, 170'000));
  const Expected expected = expect(problem);
  CallOptions options;
  options.threads = 8;
  options.deterministic = 256;
  const Answer first = run_step(probe, problem, options);
  require_y(probe, problem, first, expected);
  require_gradients(probe, problem, first, expected);
  for (int run = 1; run < kRuns; ++run) {
    const Answer again = run_step(probe, problem, options);
    const std::string against = fmt::format("step {} against the first, same arguments", run + 1);
    require_same_y(probe, problem, again, first, against);
    require_same_gradients(probe, problem, again, first, against);
  }
}

// Asked to be deterministic, by whatever is not 0, runs give the same bits; each is long enough for
// threads to meet. Sums of three threads and more depend on who is first, where those of two do
// not. Some are asked of a fresh process, or after a call of other threads.
void deterministic_bits(Probe& probe) {
  constexpr int kRuns = 6;
  Rng rng = probe.begin_case("two_threads");
  const Problem problem = make_big_problem(rng, rng.integer(15'000, 20'000), rng.integer(40, 80));
  const Expected expected = expect(problem);
  for (const int threads : {2, 8, 16}) {
    if (threads > 2) probe.begin_case(threads == 8 ? "eight_threads" : "sixteen_threads");
    CallOptions options;
    options.threads = threads;
    options.deterministic = threads == 2 ? 1 : threads == 8 ? -2 : 65'536;
    options.dx = threads != 16;  // who has no rows to write may add up in another way
    CallOptions other = options;
    other.threads = 3;
    Answer first;
    const Bytes saved = run_forward(probe, problem, first, options);
    run_backward(probe, problem, saved, first, options);
    require_gradients(probe, problem, first, expected);
    for (int run = 1; run < kRuns; ++run) {
      Answer again;
      if (run == kRuns - 1 && threads == 8) probe.restart();
      if (run == kRuns - 1 && threads == 16) run_backward(probe, problem, saved, again, other);
      run_backward(probe, problem, saved, again, options);
      require_same_gradients(probe, problem, again, first,
                             fmt::format("run {} against the first, same arguments", run + 1));
    }
  }
  require_same_bits_of_wide_rows(probe, probe.begin_case("few_wide_rows"));
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"thread_counts", "rows lost or doubled between threads", robustness, 2, major},
       thread_counts},
      {{"thread_limit", "more threads at work than num_threads", robustness, 1, major},
       thread_limit},
      {{"deterministic_bits", "results that depend on how threads interleave", robustness, 1,
        minor},
       deterministic_bits},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
