// SPDX-License-Identifier: Apache-2.0
#include "domain.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

/// The step that the solution sees before the one that is judged: at the same addresses.
Problem earlier(const Assignment& choice, Rng& rng, const Problem& problem) {
  if (choice.is("before", "another size"))
    return make_problem(rng, near_to(rng, problem.rows), near_to(rng, problem.cols + 1, 2));
  Problem other = problem;
  if (problem.rows == 0) return other;
  const std::int64_t row = rng.integer(0, problem.rows - 1);
  const auto column = static_cast<std::size_t>(rng.integer(0, problem.cols - 1));
  const auto change = [&](float& value) { value = value == 0 ? 1 : -2 * value; };
  if (choice.is("before", "one element of x differed")) change(other.x.row(row)[column]);
  if (choice.is("before", "one element of dy differed")) change(other.dy.row(row)[column]);
  if (choice.is("before", "gamma differed")) change(other.gamma[column]);
  return other;
}

Answer run_interleaved(Probe& probe, const Problem& first, const Problem& second,
                       const CallOptions& options) {
  Answer ignored;
  Answer answer;
  const Bytes saved_first = run_forward(probe, first, ignored, options);
  const Bytes saved_second = run_forward(probe, second, answer, options);
  run_backward(probe, first, saved_first, ignored, options);
  run_backward(probe, second, saved_second, answer, options);
  return answer;
}

Answer run_after(Probe& probe, const Assignment& choice, Rng& rng, const Problem& problem,
                 const CallOptions& options) {
  if (choice.is("before", "nothing")) return run_step(probe, problem, options);
  const Problem other = earlier(choice, rng, problem);
  if (choice.is("before", "another step under way")) {
    Problem negated = other;
    for (std::int64_t i = 0; i < other.rows; ++i)
      for (float& value : negated.x.row(i)) value = -value;
    return run_interleaved(probe, negated, problem, options);
  }
  CallOptions then = options;
  if (choice.is("before", "other threads")) then.threads = options.threads == 2 ? 5 : 2;
  run_step(probe, other, then);
  return run_step(probe, problem, options);
}

void ask_step(Probe& probe, const Assignment& choice, Rng& rng) {
  const Problem problem = problem_of(choice, rng);
  const CallOptions options = options_of(choice, rng);
  const Answer answer = run_after(probe, choice, rng, problem, options);
  const Expected expected = expect(problem);
  require_y(probe, problem, answer, expected);
  require_gradients(probe, problem, answer, expected);
}

}  // namespace

std::vector<Check> domain_checks() {
  return kit::domain_checks({{&domain(), ask_step}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
