#include <fmt/format.h>

#include "ask.h"
#include "generate.h"
#include "graders/kit/compare.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Causal, so that late blocks of queries are more work than early ones.
Problem uneven_work(Rng& rng, std::int64_t length) {
  Sizes sizes;
  sizes.batch = 2;
  sizes.q_heads = sizes.kv_heads = 2;
  sizes.q_len = sizes.k_len = length;
  sizes.dim = sizes.value_dim = 16;
  Problem problem(sizes, rng);
  problem.causal = true;
  fill_sharp(problem, rng);
  return problem;
}

void same_floats(Probe& probe, const Problem& problem, const Answer& first, const Answer& next) {
  const Sizes& sizes = problem.sizes;
  probe.require(kit::first_difference(
      std::span<const float>(next.o), first.o,
      kit::index_namer("o", {sizes.batch, sizes.q_heads, sizes.q_len, sizes.value_dim})));
  probe.require(
      kit::first_difference(std::span<const float>(next.lse), first.lse,
                            kit::index_namer("lse", {sizes.batch, sizes.q_heads, sizes.q_len})));
}

void thread_counts(Probe& probe) {
  for (const int threads : {1, 2, 3, 5, 16, 64}) {
    Rng rng = probe.begin_case(fmt::format("threads_{}", threads));
    Problem problem = uneven_work(rng, rng.integer(1, 200));
    problem.threads = threads;
    const Answer answer = ask(probe, problem);
    check_answer(probe, problem, answer);
    same_floats(probe, problem, answer, ask(probe, problem));
  }
}

// Also with calls of other shapes in between, whose leftovers a reused scratch buffer would hold.
void same_bits(Probe& probe) {
  Rng rng = probe.begin_case("again_and_again");
  const Problem problem = uneven_work(rng, 171);
  const Problem bigger = uneven_work(rng, 230);
  const Problem smaller = uneven_work(rng, 17);
  const Answer first = ask(probe, problem);
  check_answer(probe, problem, first);
  for (int round = 0; round < 20; ++round) {
    if (round % 5 == 1) ask_and_check(probe, bigger);
    if (round % 5 == 3) ask_and_check(probe, smaller);
    same_floats(probe, problem, first, ask(probe, problem));
  }
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"thread_counts", "work lost or doubled between threads", robustness, 2, major},
       thread_counts},
      {{"same_bits", "races, and scratch memory that remembers", robustness, 1, major}, same_bits},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
