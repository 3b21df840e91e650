// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "graders/kit/device.h"
#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::kInfinity;
using kit::kNan;

/// Rows of any spread at any height, some with all winners at one thread.
Problem large_problem(Rng& rng, std::int64_t vocab, std::int64_t entries, std::int64_t k) {
  const std::int64_t width = vocab + rng.integer(-300, 300);
  Problem problem = blank_problem(entries / width + rng.integer(0, 9), width, k);
  problem.options.threads = static_cast<int>(rng.integer(2, 4));
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    fill_noise(rng, problem.row(i), {rng.uniform(-200, 200), rng.uniform(0.3, 4)});
    const Dealing dealing{std::int64_t{16} << rng.integer(0, 6), 1};
    if (rng.chance(0.3)) plant(rng, problem.row(i), dealing.places_of_one(rng, width, problem.k));
  }
  return problem;
}

/// More rows than 16 bits can count, or on a device than there are blocks at a time, of which the
/// last and some are verified. Threads may deal them out by their lengths. There may not be 16
/// bytes of scratch memory for each, nor as much as the winners take in the outputs; of a device,
/// where they are too few for that, a process is asked that has answered before.
void ask_many_rows(Probe& probe) {
  const bool device = kit::on_device(probe);
  const std::int64_t many = device ? 3000 : 1'100'000;
  Rng rng = probe.begin_case(fmt::format("{}_rows", many));
  Problem problem = make_problem(rng, many + rng.integer(0, 99), device ? rng.integer(5, 9) : 3, 2);
  problem.options.threads = 2;
  problem.options.lse = problem.options.row_max = device;
  if (!device) draw_lengths(rng, problem);
  SoftmaxTopkCall call(problem);
  if (device)
    probe.run_ok(call);
  else
    require_scratch(probe, problem, kit::fresh_peak_bytes(probe, call));
  std::vector<std::int64_t> sample = random_places(rng, problem.rows, 200);
  sample.push_back(problem.rows - 1);
  require_rows(probe, problem, call.answer(), expect_rows(problem, sample, Sums::plain));
}

/// Again more than 16 bits can count.
void ask_many_full_rows(Probe& probe) {
  Rng rng = probe.begin_case("rows_of_one_length");
  Problem problem = make_problem(rng, 70'000 + rng.integer(0, 999), 3, rng.integer(1, 3));
  problem.options.threads = static_cast<int>(rng.integer(2, 4));
  std::vector<std::int64_t> sample = random_places(rng, problem.rows, 200);
  sample.push_back(problem.rows - 1);
  require_rows(probe, problem, ask(probe, problem), expect_rows(problem, sample, Sums::plain));
}

/// A row whose indices and length are no floats: those above 2^24 lose their last bit there, and
/// the row its best entry, the last one. Some of the few winners have an equal one below 2^24.
/// Threads are so many that their product with the length has more than 32 bits, unsigned ones too.
/// What follows the row is NaN.
void ask_row_beyond_floats(Probe& probe) {
  Rng rng = probe.begin_case("one_row_beyond_2^24");
  constexpr std::int64_t kEdge = 1 << 24;
  const std::int64_t length = longer_than_floats(rng);
  Problem problem = blank_problem(1, length + 3, rng.integer(7, 12));
  problem.options.threads = kit::kManyThreads;
  const auto row = problem.row(0).first(static_cast<std::size_t>(length));
  std::ranges::fill(row, static_cast<float>(rng.uniform(-3, -2)));
  std::vector<std::int64_t> where = random_places(rng, 199, problem.k);
  for (std::size_t n = 0; n < where.size(); ++n)
    where[n] = n % 4 == 3 ? kEdge - 1 - where[n] : kEdge + where[n];
  where.front() = length - 1;
  plant(rng, row, where);
  make_pairs(row, where);
  problem.valid_len = {length};
  require_right(probe, problem, Sums::careful);
  problem.k = 1;  // by other ways than several
  row[static_cast<std::size_t>(kEdge + 2 * rng.integer(0, 94) + 1)] = 9;
  require_right(probe, problem, Sums::careful);
}

// Batches of the size that people run, where solutions take other paths than for a few rows; one
// has rows of their own lengths. The probabilities of one would not fit into the scratch memory
// that there is, which is looked at in the first call of a process: what is kept from earlier ones
// counts in none.
void large_batch(Probe& probe) {
  const std::int64_t entries = kit::on_device(probe) ? 1'500'000 : 6'000'000;
  for (const std::int64_t vocab : {20'000, 261'800}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    // Of many winners a device keeps none in shared memory, and would be at it for a minute.
    const bool few = vocab == 20'000 || kit::on_device(probe);
    Problem problem =
        large_problem(rng, vocab, entries, few ? rng.integer(20, 60) : rng.integer(520, 1024));
    if (vocab > 20'000) problem.options.threads = 33;  // a copy of a row for each is too much
    if (vocab > 20'000)
      for (std::int64_t i = 0; i < problem.rows; ++i)
        problem.valid_len.push_back(problem.vocab - rng.integer(0, 99));
    SoftmaxTopkCall call(problem);
    require_scratch(probe, problem, kit::fresh_peak_bytes(probe, call));
    require_rows(probe, problem, call.answer(), expect(problem, Sums::plain));
  }
  ask_many_rows(probe);
  if (kit::on_device(probe)) return;  // which would be at it for a minute
  ask_many_full_rows(probe);
  ask_row_beyond_floats(probe);
  Rng rng = probe.begin_case("uncountable_maxima");
  require_right(probe, uncountable_maxima(rng), Sums::careful);
}

/// A question that is asked again and again.
struct Repeated {
  Problem problem;
  Answer first;
};

/// Every `deterministic` but 0 asks for it.
Repeated asked_once(Probe& probe, Problem problem, int threads, std::int32_t deterministic) {
  problem.options.deterministic = deterministic;
  problem.options.threads = threads;
  Answer first = require_right(probe, problem);
  return {std::move(problem), std::move(first)};
}

/// A few dozen entries, here and there, are nearly all of the sum: what their exponentials round
/// off is not averaged out, and the many winners show it.
Problem peaked_row(Rng& rng) {
  Problem problem = make_problem(rng, 1, rng.integer(200'000, 1 << 18), near_to(rng, 300));
  for (const std::int64_t at : random_places(rng, problem.vocab, 40))
    problem.row(0)[static_cast<std::size_t>(at)] = static_cast<float>(rng.uniform(18, 26));
  return problem;
}

// The same questions many times: of rows enough for all threads, and of one that they share. What a
// thread can have seen of another one's part by then is luck, so that the latter is asked the most.
// Others in between leave their scratch memory behind, and what a row of NaN does to it. What calls
// forget to free is more in the end than there may be. A device does each in another order and on
// another kind of stream.
void deterministic_bits(Probe& probe) {
  const int repeats = kit::on_device(probe) ? 15 : 40;
  const int in_a_row = kit::on_device(probe) ? 1 : 4;
  Rng rng = probe.begin_case("again_and_again");
  const std::int64_t vocab = rng.integer(40'000, 60'000);
  const Repeated many = asked_once(probe, make_problem(rng, 5, vocab, 40), 3, 1);
  const Repeated few = asked_once(probe, make_problem(rng, 3, vocab, 40), 3, -1);
  const Repeated one = asked_once(probe, peaked_row(rng), 7, 2);
  for (int n = 0; n < repeats; ++n) {
    kit::shuffle_schedule(probe, rng);
    kit::take_stream(probe, n);
    const Repeated& asked = n % 5 == 4 ? many : n % 2 == 0 ? few : one;
    for (int times = &asked == &one ? in_a_row : 1; times > 0; --times)
      if (!same_bits(ask(probe, asked.problem), asked.first))
        probe.fail(fmt::format("turn {} of the same arguments gives other bits", n + 2));
    if (n % 7 != 0) continue;
    Problem other =
        make_problem(rng, rng.integer(1, 20), rng.integer(10, 3000), rng.integer(1, 200));
    for (std::int64_t i = 0; i < other.rows; ++i)
      if (rng.chance(0.5)) std::ranges::fill(other.row(i), rng.chance(0.5) ? kNan : kInfinity);
    require_right(probe, other);
  }
  SoftmaxTopkCall last(one.problem);
  require_scratch(probe, one.problem, kit::peak_bytes(probe, last));
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"deterministic_bits", "state that survives a call; races between threads", robustness, 1,
        major},
       deterministic_bits},
      {{"large_batch", "paths that are taken for large batches only", robustness, 2, major},
       large_batch},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
