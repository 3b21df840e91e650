// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"
#include "large.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// A row of NaN and one with an infinity may spoil themselves and the sums over rows, nothing else.
void row_isolation(Probe& probe) {
  for (const std::int64_t cols : {12, 300, 2000}) {
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
  ask_large(probe, {{"a row", {"NaN", "infinity"}}, kFewOrManyRows});
}

/// How two steps are under way, and what they have in common.
struct Way {
  const char* name;
  bool fresh_process;  // for the second half
  bool same_eps;
  Passes passes;
};
constexpr Way kWays[] = {{"same_process", false, false, Passes::alike},
                         {"fresh_process", true, false, Passes::alike},
                         {"same_eps", false, true, Passes::alike},
                         {"forward_otherwise", false, true, Passes::forward_otherwise},
                         {"saved_elsewhere", false, true, Passes::saved_elsewhere}};

/// Two steps of one shape by turns, more of them than a number of 8 bits tells apart.
void ask_many_steps(Probe& probe, Rng rng) {
  const std::int64_t rows = rng.integer(2, 5);
  const std::int64_t cols = rng.integer(2, 9);
  const Problem problems[] = {make_problem(rng, rows, cols), make_problem(rng, rows, cols)};
  const Expected expected[] = {expect(problems[0]), expect(problems[1])};
  CallOptions options;
  options.threads = 1;
  const int steps = static_cast<int>(256 + rng.integer(4, 12));
  for (int step = 0; step < steps; ++step) {
    const int turn = step % 2;
    const Answer answer = run_step(probe, problems[turn], options);
    require_y(probe, problems[turn], answer, expected[turn]);
    require_gradients(probe, problems[turn], answer, expected[turn]);
  }
}

// Two steps of one shape under way at the same time, in an order of our choosing: all that counts
// is in the arguments. In the same process the saved bytes of both lie in the same memory, one
// after the other; or the second half is asked of a process that has never seen the first.
void saved_state(Probe& probe) {
  for (const Way& way : kWays)
    for (const std::int64_t cols : {9, 200}) {
      Rng rng = probe.begin_case(fmt::format("near_{}_columns_{}", cols, way.name));
      const std::int64_t rows = rng.integer(5, 40);
      const std::int64_t width = near_to(rng, cols);
      const Problem first = make_problem(rng, rows, width, {2, 1, 0.3, 1});
      Problem second = make_problem(rng, rows, width, {-1, 3, 0.3, 1});
      second.eps = way.same_eps ? first.eps : rng.uniform(1, 2);
      CallOptions options;
      options.passes = way.passes;
      options.saved_stays = !way.fresh_process;
      Answer of_first;
      Answer of_second;
      const Bytes saved_first = run_forward(probe, first, of_first, options);
      const Bytes saved_second = run_forward(probe, second, of_second, options);
      if (way.fresh_process) probe.restart();
      run_backward(probe, first, saved_first, of_first, options);
      require_gradients(probe, first, of_first, expect(first));
      run_backward(probe, second, saved_second, of_second, options);
      require_gradients(probe, second, of_second, expect(second));
    }
  ask_many_steps(probe, probe.begin_case("more_steps_than_a_byte_counts"));
}

}  // namespace

std::vector<Check> steps_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"row_isolation", "a NaN or an infinity that leaves its row", robustness, 1, major},
       row_isolation},
      {{"saved_state", "state kept elsewhere than in the saved bytes", robustness, 2, major},
       saved_state},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
