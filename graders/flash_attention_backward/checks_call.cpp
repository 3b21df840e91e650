#include <fmt/format.h>

#include "ask.h"
#include "cases.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// The same question again and again, with others in between: the same bits when determinism is
// asked for, and the right answer when it is not.
void repeatability(Probe& probe) {
  Rng rng = probe.begin_case("twelve times");
  Sizes sizes = drawn_sizes(rng, rng.integer(130, 260), rng.integer(260, 300));
  sizes.dim = sizes.value_dim = 32;
  sizes.q_heads = sizes.kv_heads = 3;
  Problem problem = random_problem(rng, sizes);
  problem.form.causal = rng.chance(0.5);
  attend(problem);
  Asking asking;
  asking.deterministic = true;
  asking.num_threads = 3;
  const Answer first = require_right(probe, problem, asking);
  for (int again = 1; again < 12; ++again)
    require_equal(probe, problem, ask(probe, problem, asking), first);

  probe.begin_case("order left free");
  asking.deterministic = false;
  const Expected expected = expected_of(problem);
  for (int again = 0; again < 8; ++again)
    require_close(probe, problem, ask(probe, problem, asking), expected);
}

// More threads than heads, more than blocks of keys, and just one.
void thread_counts(Probe& probe) {
  for (const std::int32_t threads : {1, 3, 5, 16}) {
    Rng rng = probe.begin_case(fmt::format("{} threads", threads));
    Sizes sizes = drawn_sizes(rng, rng.integer(20, 180), rng.integer(20, 180));
    if (threads == 3) sizes.q_heads = sizes.kv_heads = 4;
    Problem problem = random_problem(rng, sizes);
    problem.form.causal = rng.chance(0.5);
    attend(problem);
    Asking asking;
    asking.num_threads = threads;
    require_right(probe, problem, asking);
  }
}

void optional_outputs(Probe& probe) {
  for (int wanted = 0; wanted < 16; ++wanted) {
    Rng rng = probe.begin_case(fmt::format("results {}{}{}{}", wanted & 1 ? "dq " : "",
                                           wanted & 2 ? "dk " : "", wanted & 4 ? "dv " : "",
                                           wanted & 8 ? "delta" : ""));
    Problem problem =
        random_problem(rng, drawn_sizes(rng, rng.integer(20, 100), rng.integer(20, 100)));
    attend(problem);
    Asking asking;
    asking.want_dq = wanted & 1;
    asking.want_dk = wanted & 2;
    asking.want_dv = wanted & 4;
    asking.want_delta = wanted & 8;
    require_right(probe, problem, asking);
  }
}

}  // namespace

std::vector<Check> call_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"repeatability", "races between threads", robustness, 2, major}, repeatability},
      {{"thread_counts", "a fixed number of threads, or of heads for them", robustness, 1, major},
       thread_counts},
      {{"optional_outputs", "results that are not wanted", robustness, 1, major}, optional_outputs},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
