// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "graders/kit/bits.h"
#include "graders/kit/threads.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::kInfinity;
using kit::kNan;

bool same_bits(const Answer& a, const Answer& b) {
  return kit::same_bits(a.indices, b.indices) && kit::same_bits(a.probs, b.probs) &&
         kit::same_bits(a.lse, b.lse) && kit::same_bits(a.row_max, b.row_max);
}

/// Rows that rise, so that many an entry is among the largest so far: work enough for threads to be
/// counted, of little memory.
void limit_threads(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_threads_at_most", threads));
  Problem problem = blank_problem(rng.integer(30, 32), rng.integer(128'000, 129'000), 50);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    fill_noise(rng, problem.row(i));
    float rise = -20;
    for (float& logit : problem.row(i)) logit = 0.01f * logit + (rise += 2e-4f);
  }
  problem.options.threads = threads;
  Answer answer;
  kit::require_thread_limit(probe, threads, [&] { answer = ask(probe, problem); });
  require_rows(probe, problem, answer, expect(problem, Sums::plain));
}

void thread_limit(Probe& probe) {
  for (const int threads : {1, 2, 3}) limit_threads(probe, threads);
}

// More threads than rows, fewer than rows, more than the machine has; all winners of a row with one
// thread, whether entries are dealt out in turn or in one piece each.
void thread_counts(Probe& probe) {
  for (const std::int64_t rows : {1, 2, 3, 7, 40}) {
    Rng rng = probe.begin_case(fmt::format("{}_rows", rows));
    const std::int64_t vocab = (8000 + rng.integer(0, 999)) / (rows < 4 ? 1 : 4);
    for (const int threads : {1, 2, 3, 5, 16, 90}) {
      Problem problem = make_problem(rng, rows, vocab, near_to(rng, 48));
      problem.options.threads = threads;
      for (std::int64_t i = 0; i < rows; ++i) {
        const Dealing in_turn{threads, 1};
        const Dealing in_pieces{threads, vocab / threads};
        const Dealing& dealing = rng.chance(0.5) ? in_turn : in_pieces;
        plant(rng, problem.row(i), dealing.places_of_one(rng, vocab, problem.k));
      }
      require_right(probe, problem);
    }
  }
  limit_threads(probe, 1);
}

// Batches of the size that people run, where solutions take other paths than for a few rows. Rows
// of any spread at any height, some with all winners at one thread.
void large_batch(Probe& probe) {
  for (const std::int64_t vocab : {20'000, 128'256}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    const std::int64_t width = vocab + rng.integer(-300, 300);
    Problem problem =
        blank_problem(6'000'000 / width + rng.integer(0, 9), width, rng.integer(20, 60));
    problem.options.threads = static_cast<int>(rng.integer(2, 4));
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      fill_noise(rng, problem.row(i), {rng.uniform(-200, 200), rng.uniform(0.3, 4)});
      const Dealing dealing{std::int64_t{16} << rng.integer(0, 6), 1};
      if (rng.chance(0.3)) plant(rng, problem.row(i), dealing.places_of_one(rng, width, problem.k));
    }
    require_right(probe, problem);
  }
}

// The same question many times, with others in between that leave their scratch memory behind, and
// what a row of NaN does to it.
void deterministic_bits(Probe& probe) {
  constexpr int kRepeats = 50;
  Rng rng = probe.begin_case("fifty_times");
  Problem problem = make_problem(rng, 5, rng.integer(40'000, 60'000), 40);
  problem.options.deterministic = true;
  problem.options.threads = 3;
  const Answer first = require_right(probe, problem);
  Problem few = problem;
  few.rows = 3;
  few.logits.resize(static_cast<std::size_t>(2 * few.stride + few.vocab));
  const Answer first_of_few = require_right(probe, few);
  for (int n = 0; n < kRepeats; ++n) {
    const bool small = n % 5 != 4;
    const Answer again = ask(probe, small ? few : problem);
    if (!same_bits(again, small ? first_of_few : first))
      probe.fail(fmt::format("call {} of the same arguments gives other bits", n + 2));
    if (n % 7 != 0) continue;
    Problem other =
        make_problem(rng, rng.integer(1, 20), rng.integer(10, 3000), rng.integer(1, 200));
    for (std::int64_t i = 0; i < other.rows; ++i)
      if (rng.chance(0.5)) std::ranges::fill(other.row(i), rng.chance(0.5) ? kNan : kInfinity);
    require_right(probe, other);
  }
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"deterministic_bits", "state that survives a call; races between threads", robustness, 1,
        major},
       deterministic_bits},
      {{"thread_counts", "parts of a row, or rows, lost between threads", robustness, 2, major},
       thread_counts},
      {{"thread_limit", "more threads at work than num_threads", robustness, 1, major},
       thread_limit},
      {{"large_batch", "paths that are taken for large batches only", robustness, 2, major},
       large_batch},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
