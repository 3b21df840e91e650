#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// dy = 1 + 0.1 noise, and columns of x that lie above or below their row's mean throughout: the
// sums grow with every row. Gradients of mean zero would hide an accumulator that is too short.
void biased_gradient(Probe& probe) {
  for (const std::int64_t rows : {4096, 131'072}) {
    Rng rng = probe.begin_case(fmt::format("about_{}_rows", rows));
    Problem problem =
        make_big_problem(rng, near_to(rng, rows), rng.integer(3, 8), {0, 0.5, 1, 0.1});
    for (std::int64_t j = 0; j < problem.cols; ++j) {
      const auto bias = static_cast<float>(rng.normal());
      for (std::int64_t i = 0; i < problem.rows; ++i)
        problem.x.row(i)[static_cast<std::size_t>(j)] += bias;
    }
    require_step(probe, problem, {.y = false, .dx = false});
  }
}

// Row counts around what fits into 16 bits.
void many_rows(Probe& probe) {
  for (const std::int64_t rows : {65'535, 65'536, 65'537, 131'073}) {
    Rng rng = probe.begin_case(fmt::format("{}_rows", rows));
    const Problem problem = make_big_problem(rng, rows, rng.integer(2, 5));
    const Answer answer = run_step(probe, problem);
    const Expected expected = expect(problem);
    require_forward(probe, problem, answer, expected);
    require_gradients(probe, problem, answer, expected);
  }
}

}  // namespace

std::vector<Check> sums_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"biased_gradient", "short accumulators of dgamma and dbeta", correctness, 2, critical},
       biased_gradient},
      {{"many_rows", "row counts that do not fit into 16 bits", robustness, 2, critical},
       many_rows},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
