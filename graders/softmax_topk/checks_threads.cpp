// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/threads.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int64_t kManyRows = 70;  // which more than 64 threads share
/// Each of which takes any thread that has a part of it so long that it can be counted: threads
/// that are started for a row, beside those that have the rows around it, end with it. Four threads
/// do not divide among them.
constexpr std::int64_t kLongRows = 3;

/// Rows that rise, so that many an entry is among the largest so far: work enough for threads to be
/// counted, of little memory.
struct RisingRows {
  RisingRows(Rng& rng, std::int64_t rows, std::int64_t entries)
      : problem(blank_problem(rows, entries / rows - rng.integer(0, 3000), 50)) {
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      fill_noise(rng, problem.row(i));
      float rise = -20;
      for (float& logit : problem.row(i)) logit = 0.01f * logit + (rise += 2e-4f);
    }
    expected = expect(problem, Sums::plain);
  }

  void require_right_with(Probe& probe, int threads) {
    problem.options.threads = threads;
    require_rows(probe, problem, ask(probe, problem), expected);
  }

  Problem problem;
  Expected expected;
};

/// Whoever puts most entries among the largest, one after the other, takes ten times as long as the
/// reference: a quarter is enough to count its threads by.
struct FewAndMany {
  FewAndMany(Rng& rng, std::int64_t rows)
      : few(rng, rows, kEntries / 4), many(rng, rows, kEntries) {}

  static constexpr std::int64_t kEntries = 1 << 23;
  RisingRows few, many;
};

void limit_threads(Probe& probe, FewAndMany& rows, int threads) {
  kit::require_thread_limit(
      probe, threads, [&](int count) { rows.many.require_right_with(probe, count); },
      [&](int count) { rows.few.require_right_with(probe, count); });
}

/// More threads than any call before made room for, or 64 have. Rows take so long that most threads
/// have one, and several are at one at the same time.
void ask_crowded(Probe& probe, Rng& rng, RisingRows& rows) {
  rows.require_right_with(probe, static_cast<int>(rng.integer(66, kManyRows)));
}

void thread_limit(Probe& probe) {
  {
    Rng rng = probe.begin_case("so_many_threads_at_most");
    FewAndMany rows(rng, kManyRows);
    for (const int threads : {1, 3}) limit_threads(probe, rows, threads);
    ask_crowded(probe, rng, rows.many);
  }
  Rng rng = probe.begin_case("four_threads_of_three_rows");
  FewAndMany rows(rng, kLongRows);
  limit_threads(probe, rows, 4);
}

/// Few rows, which threads share: the second one has fewer entries than there are threads. In the
/// others one entry hides what the rest weighs, one by one but not together, and lies in one
/// thread's part. Where it comes last, no float sum in ascending order loses that: one of 71 000
/// terms that add up to 71 000 exp(-18.4) = 7e-4 is off by 71 000 u of these, 50 u of the row, and
/// half as much is tolerated again. Where it comes first, a sum keeps them as in careful_sums.
void ask_shared_rows(Probe& probe) {
  Rng rng = probe.begin_case("rows_that_threads_share");
  Problem problem = blank_problem(3, 70'000 + rng.integer(0, 999), near_to(rng, 48));
  problem.options.threads = 7;
  problem.valid_len = {problem.vocab, rng.integer(0, 6), problem.vocab};
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    fill_noise(rng, problem.row(i), {-10, 0.1});
    const auto row = problem.row(i);
    (i < 2 ? row.back() : row.front()) = static_cast<float>(rng.uniform(8.8, 9.5));
  }
  require_right(probe, problem, Sums::careful);
}

/// One row that threads share, with another number of them each time, so that what a part left
/// behind is none of the next row. What is special lies in one part, or leaves nothing for most.
void ask_one_shared_row(Probe& probe) {
  Rng rng = probe.begin_case("one_row_that_threads_share");
  Problem problem = make_problem(rng, 1, 66'000 + rng.integer(0, 999), near_to(rng, 48));
  const Problem usual = problem;
  const auto row = problem.row(0);
  const auto some_place = [&] { return static_cast<std::size_t>(rng.integer(0, 65'999)); };
  const auto ask_with = [&](int threads, std::int64_t length) {
    problem.options.threads = threads;
    problem.valid_len = {length};
    require_right(probe, problem, Sums::any);
    std::ranges::copy(usual.row(0), row.begin());
  };
  ask_with(7, problem.vocab);
  row[some_place()] = std::copysign(kit::kNan, rng.chance(0.5) ? -1.0f : 1.0f);
  ask_with(5, problem.vocab);
  row[some_place()] = kit::kInfinity;
  ask_with(9, problem.vocab);
  std::ranges::fill(row.subspan(1000), -kit::kInfinity);
  ask_with(7, problem.vocab);
  std::ranges::fill(row.first(65'000), -kit::kInfinity);
  ask_with(3, problem.vocab);
  std::ranges::fill(row, -kit::kInfinity);
  ask_with(6, problem.vocab);
  ask_with(7, rng.integer(0, 6));
  for (float& z : row) z = rng.chance(0.5) ? 0x1p127f : -0x1p127f;
  problem.scale = 0x1p-126f;
  problem.k = 1;
  ask_with(2, problem.vocab - 1);
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
  ask_shared_rows(probe);
  ask_one_shared_row(probe);
  {
    Rng rng = probe.begin_case("one_thread_at_most");
    FewAndMany rows(rng, kManyRows);
    limit_threads(probe, rows, 1);
    ask_crowded(probe, rng, rows.few);
  }
  Rng rng = probe.begin_case("four_threads_of_three_rows");
  FewAndMany rows(rng, kLongRows);
  limit_threads(probe, rows, 4);
}

}  // namespace

std::vector<Check> threads_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"thread_counts", "parts of a row, or rows, lost between threads", robustness, 2, major},
       thread_counts},
      {{"thread_limit", "more threads at work than num_threads", robustness, 1, major},
       thread_limit},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
