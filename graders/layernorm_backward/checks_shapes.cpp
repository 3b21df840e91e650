// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "footprint.h"
#include "graders/kit/device.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"
#include "lap.h"
#include "large.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void single_column(Probe& probe) {
  for (const std::int64_t cols : {1, 2}) {  // one has no variance, whatever x is
    Rng rng = probe.begin_case(fmt::format("{}_columns", cols));
    Spread spread = random_spread(rng);
    spread.x_mean = 2;
    const Problem problem = make_problem(rng, rng.integer(3, 300), cols, spread);
    require_right_with_y(probe, problem);

    rng = probe.begin_case(fmt::format("{}_columns_given_statistics", cols));
    Problem given = problem;
    give_drawn_statistics(rng, given);
    require_right(probe, given);
  }
}

/// A column of zeros is its own mean: y is beta, dx is 0, and dbeta counts the ones in dy. dx lies
/// there in the forward pass, and stays.
void ask_tall_step(Probe& probe, Rng rng) {
  CallOptions options;
  options.threads = kit::kManyThreads;
  Problem problem = make_tall_problem(rng, options.threads);
  for (const char* where : {"first", "random", "last"})
    problem.dy.row(index_at(rng, where, problem.rows))[0] += 1;
  const std::string shape =
      fmt::format("{} rows x 1 column of zeros, {} threads", problem.rows, options.threads);
  probe.restart();
  Answer answer;
  options.others_given = true;
  const Bytes saved = run_forward(probe, problem, answer, options);
  options.others_given = false;
  const std::vector<float>& y = answer.y;
  const auto wrong = std::ranges::find_if(y, [&](float value) { return value != problem.beta[0]; });
  if (wrong != y.end())
    probe.fail(fmt::format("y[{}][0] is {}, want {}", wrong - y.begin(), *wrong, problem.beta[0]),
               {shape});
  probe.restart();  // threads that wait for more would cost time with every call
  run_backward(probe, problem, saved, answer, options);
  probe.restart();
  const auto moved = std::ranges::find_if(answer.dx, [](float value) { return value != 0; });
  if (moved != answer.dx.end())
    probe.fail(fmt::format("dx[{}][0] is {}, want 0", moved - answer.dx.begin(), *moved), {shape});
  const auto count = static_cast<float>(problem.rows + 3);
  if (answer.dgamma[0] != 0 || answer.dbeta[0] != count)
    probe.fail(fmt::format("dgamma[0] is {} and dbeta[0] is {}, want 0 and {}", answer.dgamma[0],
                           answer.dbeta[0], count),
               {shape, "dy one, but for three rows of more"});
}

// Row counts around what fits into 16 bits; of more there is no memory for, only a question. Some
// have one gradient wanted alone. A simulated device takes seconds for such a call: it is asked for
// one of them, without dx.
void many_rows(Probe& probe) {
  const std::vector<std::int64_t> counts =
      kit::on_device(probe) ? std::vector<std::int64_t>{65'537}
                            : std::vector<std::int64_t>{65'535, 65'536, 65'537, 131'073};
  for (const std::int64_t rows : counts) {
    Rng rng = probe.begin_case(fmt::format("{}_rows", rows));
    CallOptions options;
    const bool all = rows == 65'537;
    options.dx = !kit::on_device(probe) && (all || rows == 65'535);
    options.dgamma = all || rows == 65'536;
    options.dbeta = all || rows == 131'073;
    require_right_with_y(probe, make_big_problem(rng, rows, rng.integer(2, 5)), options);
  }
  if (!kit::on_device(probe))
    ask_tall_step(probe, probe.begin_case("rows_times_threads_beyond_2_to_the_32"));
  Rng rng = probe.begin_case("more_than_fit_into_32_bits");
  require_wide_saved_bytes(probe, rng);
}

// Sums over no rows are zero, and have to be written; also where those over some rows were of as
// many columns before.
void zero_rows(Probe& probe) {
  for (const std::int64_t cols : {1, 33, 1024}) {
    Rng rng = probe.begin_case(fmt::format("no_rows_near_{}_columns", cols));
    const Problem problem = make_problem(rng, 0, near_to(rng, cols));
    CallOptions options;
    options.threads = static_cast<int>(rng.integer(1, 4));
    const std::vector<float> zeros(static_cast<std::size_t>(problem.cols), 0.0f);
    const auto ask_nothing = [&](const char* when) {
      require_same_gradients(probe, problem, run_step(probe, problem, options),
                             {{}, {}, zeros, zeros}, when);
    };
    ask_nothing("a sum over nothing");
    require_right(probe, make_problem(rng, rng.integer(1, 40), problem.cols), options);
    ask_nothing("a sum over nothing, after one over some rows");

    rng = probe.begin_case(fmt::format("one_row_near_{}_columns", cols));
    require_right(probe, make_problem(rng, 1, near_to(rng, cols)));
  }
}

/// A row of 1 and -1 that adds up to 0, and one element of dy that is 1: what comes out can be
/// written down, in less time and memory than an oracle takes for so many columns. A thread's stack
/// of 8 MiB has no room for a float of each: of all gradients, or of a sum that nobody wants.
void ask_widest_row(Probe& probe, Rng rng) {
  const std::int64_t cols = 2 * rng.integer(1'050'000, 1'060'000);
  Problem problem = make_wide_problem(rng, 1, cols);
  problem.gamma.clear();
  problem.beta.clear();
  const auto dy = problem.dy.row(0);
  std::ranges::fill(dy, 0.0f);
  const auto at = static_cast<std::size_t>(index_at(rng, "random", cols));
  dy[at] = 1;
  const auto x = std::as_const(problem).x.row(0);
  const double rstd = 1 / std::sqrt(1 + problem.eps);
  const double mean_w = 1 / static_cast<double>(cols);
  const double unit = sum_slack(cols) * kUnitRoundoff;
  const auto require = [&](const char* array, std::size_t j, const std::vector<float>& got,
                           double want, double size) {
    if (got.empty() || std::abs(got[j] - want) <= unit * size) return;
    probe.fail(fmt::format("{}[{}] is {}, want {}", array, j, got[j], want),
               {fmt::format("a row of {} columns, dy[0][{}] is 1, other dy 0", cols, at)});
  };
  std::vector<CallOptions> calls(1);
  for (const int threads : {1, 2})
    for (const bool without_dgamma : {false, true}) {
      CallOptions options;
      options.threads = threads;
      (without_dgamma ? options.dgamma : options.dbeta) = false;
      calls.push_back(options);
    }
  for (const CallOptions& options : calls) {
    const Answer answer = run_step(probe, problem, options);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double w = dy[j];
      // kappa and |xhat| are 1, or nearly: the README's core and shift come to |w| + 2 a and 2 a.
      require("dx", j, answer.dx, rstd * (w - mean_w - rstd * x[j] * rstd * x[at] * mean_w),
              2 * (w + 2 * mean_w) + 2 * mean_w);
      require("y", j, answer.y, rstd * x[j], 3);
      require("dgamma", j, answer.dgamma, w * rstd * x[j], 3 * w);
      require("dbeta", j, answer.dbeta, w, w);
    }
  }
}

// Steps of the size that people run, where solutions take other paths than for small ones; far from
// zero as well, as far as a running float sum can follow (see honest_columns in checks_scale.cpp).
// The backward pass of one of them is asked of a process that has not seen the forward pass. Arrays
// of the other pass are given to each, and stay as they are. Those of ask_large_pairs() are
// smaller, and have what these do without.
void large_step(Probe& probe) {
  const std::int64_t elements = kit::on_device(probe) ? 600'000 : 2'200'000;
  for (const std::int64_t cols : {60, 1000, 140'000}) {
    Rng rng = probe.begin_case(fmt::format("about_{}_columns", cols));
    const std::int64_t width = cols + rng.integer(-cols / 20, cols / 20);
    const double offset = log_uniform(rng, 1e6, 2e6) / static_cast<double>(width);
    CallOptions options;
    options.others_given = true;
    std::int64_t rows = elements / width;
    if (cols == 60 && !kit::on_device(probe)) {
      const Cut cut = cut_that_double_loses(rng, {rows - 4000, 49}, {rows, 103});
      options.threads = cut.threads;
      rows = cut.rows;
    }
    Problem problem = make_big_problem(rng, rows, width, {offset, 1, 0.3, 1});
    if (cols == 140'000) {
      add_ramp(rng, problem, 4);
      problem.gamma.clear();  // nobody needs an array of ones in its place
      problem.beta.clear();
    }
    const LapOracle oracle(problem);
    Answer answer;
    const Bytes saved = run_forward(probe, problem, answer, options);
    if (cols == 1000) probe.restart();
    run_backward(probe, problem, saved, answer, options);
    probe.require(oracle.judge_y(answer.y));
    probe.require(oracle.judge_gradients(answer.dx, answer.dgamma, answer.dbeta));
  }
  if (!kit::on_device(probe))
    ask_widest_row(probe, probe.begin_case("a_row_of_more_than_2_to_the_21"));
  ask_large_pairs(probe);
}

}  // namespace

std::vector<Check> shapes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"single_column", "one and two columns, where a row has no variance to speak of",
        correctness, 1, major},
       single_column},
      {{"many_rows", "row counts that do not fit into 16 bits", robustness, 2, critical},
       many_rows},
      {{"zero_rows", "no rows, one row", robustness, 1, major}, zero_rows},
      {{"large_step", "paths that are taken for large inputs only; threads that race", robustness,
        2, major},
       large_step},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
