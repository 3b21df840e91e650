// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "domain.h"
#include "domain_questions.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

/// Another step of the same sizes, in one thing. It is larger in eps and smaller in x, so that all
/// results stay representable.
Problem another_step(const Assignment& choice, Rng& rng, const Problem& problem) {
  Problem other = problem;
  if (choice.is("what differs in it", "eps")) other.eps = 4 * problem.eps + 1e3;
  if (choice.is("what differs in it", "gamma of ones")) std::ranges::fill(other.gamma, 1.0f);
  if (choice.is("what differs in it", "beta of zeros")) std::ranges::fill(other.beta, 0.0f);
  if (problem.rows == 0) return other;
  const std::int64_t row = rng.integer(0, problem.rows - 1);
  const auto column = static_cast<std::size_t>(rng.integer(0, problem.cols - 1));
  const auto change = [&](float& value) { value = value == 0 ? 1 : -0.5f * value; };
  if (choice.is("what differs in it", "one element of x")) change(other.x.row(row)[column]);
  if (choice.is("what differs in it", "one element of dy")) change(other.dy.row(row)[column]);
  if (choice.is("what differs in it", "gamma")) change(other.gamma[column]);
  if (choice.is("what differs in it", "dy of zeros"))
    for (std::int64_t i = 0; i < problem.rows; ++i) std::ranges::fill(other.dy.row(i), 0.0f);
  if (choice.is("what differs in it", "a row of NaN"))
    std::ranges::fill(other.x.row(row), kit::kNan);
  if (choice.is("what differs in it", "all of x"))
    for (std::int64_t i = 0; i < problem.rows; ++i) std::ranges::for_each(other.x.row(i), change);
  return other;
}

/// Of two steps under way at the same time, the gradients of the one that was begun later.
Answer run_interleaved(Probe& probe, const Problem& problem, const Problem& other,
                       const CallOptions& options) {
  Answer ignored;
  Answer answer;
  const Bytes saved_other = run_forward(probe, other, ignored, options);
  const Bytes saved = run_forward(probe, problem, answer, options);
  run_backward(probe, other, saved_other, ignored, options);
  run_backward(probe, problem, saved, answer, options);
  return answer;
}

/// A whole other step lies between the two passes, and uses the same memory for what it saves.
Answer run_around(Probe& probe, const Problem& problem, const Problem& other, CallOptions options) {
  options.saved_stays = true;
  Answer answer;
  const Bytes saved = run_forward(probe, problem, answer, options);
  run_step(probe, other, options);
  run_backward(probe, problem, saved, answer, options);
  return answer;
}

Answer run_after(Probe& probe, const Assignment& choice, Rng& rng, const Problem& problem,
                 const CallOptions& options) {
  if (choice.is("before", "nothing")) return run_step(probe, problem, options);
  if (choice.is("before", "another size")) {
    CallOptions near = options;
    near.far.reset();
    run_step(probe,
             make_problem(rng, near_to(rng, problem.rows), near_to(rng, problem.cols + 1, 2)),
             near);
  } else if (choice.is("before", "more rows")) {
    CallOptions near = options;
    near.far.reset();
    run_step(probe, make_problem(rng, problem.rows + rng.integer(1, 9), problem.cols), near);
  } else if (choice.is("before", "other threads")) {
    CallOptions then = options;
    then.threads = options.threads == 2 ? 5 : 2;
    run_step(probe, problem, then);
  } else {
    const Problem other = another_step(choice, rng, problem);
    if (choice.is("before", "another step under way"))
      return run_interleaved(probe, problem, other, options);
    if (choice.is("before", "another step between"))
      return run_around(probe, problem, other, options);
    run_step(probe, other, options);
  }
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

std::vector<kit::DomainQuestion> domain_questions() {
  return {{&domain(), ask_step}};
}

std::vector<Check> domain_checks() {
  return kit::domain_checks(domain_questions());
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
