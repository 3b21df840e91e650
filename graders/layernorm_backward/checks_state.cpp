#include <fmt/format.h>

#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Statistics that the caller brings are taken as they are, right or not.
void external_statistics(Probe& probe) {
  for (const std::int64_t cols : {6, 100, 1500}) {
    Rng rng = probe.begin_case(fmt::format("true_near_{}_columns", cols));
    Problem problem = make_problem(rng, rng.integer(3, 30), near_to(rng, cols), {1, 2, 0.3, 1});
    add_true_statistics(problem);
    require_step(probe, problem);

    rng = probe.begin_case(fmt::format("changed_near_{}_columns", cols));
    for (std::size_t i = 0; i < problem.mean.size(); ++i) {
      problem.mean[i] += static_cast<float>(rng.uniform(-1, 1));
      problem.rstd[i] *= static_cast<float>(log_uniform(rng, 0.3, 3));
    }
    require_step(probe, problem);
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

std::vector<Check> state_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"external_statistics", "recomputing statistics that the caller brings", correctness, 2,
        major},
       external_statistics},
      {{"saved_state", "state kept elsewhere than in the saved bytes", robustness, 2, major},
       saved_state},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
