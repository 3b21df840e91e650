// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/device.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Widths that reach, miss by one or straddle what a vector, a warp, a block or 16 bits hold, and
// the vocabularies of well-known tokenizers.
constexpr std::int64_t kSmallVocabs[] = {1, 2, 31, 32, 33, 127, 1000};
constexpr std::int64_t kBigVocabs[] = {4096,    32'000,  50'257,  65'536,  100'003,
                                       128'256, 131'072, 151'936, 256'000, 262'144};
constexpr std::int64_t kWinners[] = {1,   2,   8,   31,  32,  33,  50,  64,   65,
                                     100, 127, 128, 129, 256, 257, 512, 1024, 2048};

std::vector<Dealing> all_dealings() {
  std::vector<Dealing> all;
  for (std::int64_t threads = 4; threads <= 1024; threads *= 2)
    for (std::int64_t run = 1; run <= 8; run *= 2) all.push_back({threads, run});
  return all;
}

/// Row i's winners all belong to one thread of dealing i, as many as k and the vocabulary allow.
void ask_residues(Probe& probe, Rng& rng, std::int64_t vocab, std::int64_t k) {
  auto dealings = all_dealings();
  rng.shuffle(dealings);
  Problem problem = make_problem(rng, std::ssize(dealings), vocab, k);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const Dealing& dealing = dealings[static_cast<std::size_t>(i)];
    const auto where = dealing.places_of_one(rng, vocab, k);
    plant(rng, problem.row(i), where);
  }
  require_right(probe, problem);
}

/// Rows of any spread at any height, each with winners of its own, and a scale.
Problem rows_of_any_spread(Rng& rng, std::int64_t rows, std::int64_t vocab, std::int64_t k) {
  Problem problem = make_problem(rng, rows, vocab, k);
  problem.scale = static_cast<float>(rng.uniform(0.3, 1.5));
  for (std::int64_t i = 0; i < rows; ++i) {
    const Spread spread{rng.uniform(-20, 20), std::exp(rng.uniform(-2, 2))};
    fill_noise(rng, problem.row(i), spread);
  }
  return problem;
}

void random_rows(Probe& probe) {
  for (const std::int64_t vocab : kSmallVocabs)
    for (const std::int64_t k : kWinners) {
      if (k > 2 * vocab) break;
      Rng rng = probe.begin_case(fmt::format("{}_entries_{}_winners", vocab, k));
      require_right(probe, make_problem(rng, rng.integer(1, 4), vocab, near_to(rng, k)));
    }
  Rng order = probe.begin_case("big_vocabularies");
  std::vector<std::int64_t> vocabs(std::begin(kBigVocabs), std::end(kBigVocabs));
  order.shuffle(vocabs);
  for (std::size_t n = 0; n < std::size(kWinners); ++n) {
    const std::int64_t vocab = vocabs[n % vocabs.size()];
    Rng rng = probe.begin_case(fmt::format("{}_entries_{}_winners", vocab, kWinners[n]));
    require_right(probe, make_problem(rng, rng.integer(1, 3), vocab, kWinners[n]));
  }
}

// The trap: thread counts and vector widths of every power of two, and all winners with one thread.
// The last two cases have one shape, so that an answer for the first is none for the second.
void residue_needles(Probe& probe) {
  Rng rng = probe.begin_case("many_winners");
  ask_residues(probe, rng, 65'536 + rng.integer(0, 900), rng.integer(33, 64));
  const std::int64_t vocab = rng.integer(16'384, 17'000);
  const std::int64_t k = rng.integer(9, 16);
  for (const char* name : {"few_winners", "few_winners_again"}) {
    Rng again = probe.begin_case(name);
    ask_residues(probe, again, vocab, k);
  }
}

void contiguous_needles(Probe& probe) {
  for (const std::int64_t about : {33, 64, 129, 257}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_winners", about));
    const std::int64_t k = near_to(rng, about);
    Problem problem = make_problem(rng, 9, rng.integer(18'000, 21'000), k);
    std::vector<std::int64_t> starts{0, problem.vocab - k, rng.integer(0, problem.vocab - k)};
    for (std::int64_t chunk = 16; chunk <= 4096; chunk *= 4) {
      const std::int64_t edge = chunk * rng.integer(1, (problem.vocab - k) / chunk);
      starts.push_back(std::max<std::int64_t>(0, edge - rng.integer(1, k)));
    }
    starts.push_back(std::max<std::int64_t>(0, problem.vocab / 2 - k / 2));
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      auto where = random_places(rng, k, k);
      for (std::int64_t& at : where) at += starts[static_cast<std::size_t>(i)];
      plant(rng, problem.row(i), where);
    }
    require_right(probe, problem);
    problem.rows = 1;  // which threads share
    problem.options.threads = 7;
    require_right(probe, problem);
  }
}

// Two row counts of each size come twice with other data. 65 600 rows do not fit into 16 bits; a
// simulated device would take seconds for so many blocks. They have lengths of their own, by which
// threads may deal them out; large_batch has as many of one length.
void rows_apart(Probe& probe) {
  for (const std::int64_t rows : {1, 2, 3, 7, 8, 9, 31, 33, 1000})
    for (const char* turn : {"first", "second"}) {
      Rng rng = probe.begin_case(fmt::format("{}_rows_{}", rows, turn));
      require_right(probe, rows_of_any_spread(rng, rows, 190 + rows % 7, 1 + rows % 12));
    }
  const std::int64_t many = kit::on_device(probe) ? 3000 : 65'600;
  Rng rng = probe.begin_case(fmt::format("{}_rows", many));
  Problem problem =
      rows_of_any_spread(rng, many + rng.integer(0, 99), rng.integer(17, 24), rng.integer(2, 5));
  problem.options.threads = static_cast<int>(rng.integer(2, 4));
  draw_lengths(rng, problem);
  require_right(probe, problem);
}

// Numbers above 2^24 are not all floats: an index kept in one loses its last bit, and a length that
// is cut to one the row's last entry, which is among the best. The product of the length and the
// number of threads has more than 32 bits, unsigned ones too. Winners come in pairs that are equal:
// one of each lies above 2^24, and what is above the low 24 bits of the index decides.
void big_indices(Probe& probe) {
  {
    Rng rng = probe.begin_case("beyond_2^20");
    require_right(probe, make_problem(rng, 1, (1 << 20) + rng.integer(1, 99), near_to(rng, 64)));
  }
  {
    Rng rng = probe.begin_case("no_rows_of_the_longest");
    require_right(probe, no_rows_of_the_longest(rng));
  }
  if (!kit::on_device(probe)) {
    Rng rng = probe.begin_case("more_winners_than_a_stack_holds");
    require_right(probe, more_winners_than_a_stack_holds(rng));
  }
  Rng rng = probe.begin_case("beyond_2^24");
  constexpr std::int64_t kEdge = 1 << 24;
  const std::int64_t pairs = kit::on_device(probe) ? rng.integer(9, 17) : rng.integer(130, 150);
  Problem problem = blank_problem(1, longer_than_floats(rng), 2 * pairs - 1);  // one loses
  problem.options.threads = kit::kManyThreads;
  std::ranges::fill(problem.row(0), static_cast<float>(rng.uniform(-3, -2)));
  std::vector<std::int64_t> where;
  for (const std::int64_t beyond : random_places(rng, 190, pairs)) {
    where.push_back(kEdge + beyond);
    where.push_back(rng.integer(0, 99) * 65'537 + std::ssize(where));
  }
  where.front() = problem.vocab - 1;
  plant(rng, problem.row(0), where);
  make_pairs(problem.row(0), where);
  require_right(probe, problem, Sums::any);
  if (kit::on_device(probe)) return;
  rng = probe.begin_case("one_winner_beyond_2^24");  // by other ways than several
  problem.k = 1;
  problem.row(0)[static_cast<std::size_t>(kEdge + 2 * rng.integer(0, 94) + 1)] = 9;
  require_right(probe, problem, Sums::any);
  rng = probe.begin_case("uncountable_maxima");
  require_right(probe, uncountable_maxima(rng), Sums::careful);
}

}  // namespace

std::vector<Check> winners_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"residue_needles", "candidates lost where one thread or lane holds many winners",
        correctness, 3, critical},
       residue_needles},
      {{"rows_apart", "candidates, maxima or sums of one row in another", correctness, 3, critical},
       rows_apart},
      {{"random_rows", "sizes of k or of the row that were never tried", correctness, 3, critical},
       random_rows},
      {{"contiguous_needles", "candidates lost where one block holds all winners", correctness, 2,
        critical},
       contiguous_needles},
      {{"big_indices", "indices kept in a float or in 16 bits", robustness, 1, major}, big_indices},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
