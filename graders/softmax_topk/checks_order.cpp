// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "graders/kit/device.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void fill_uniform(Rng& rng, std::span<float> row, double low, double high) {
  for (float& z : row) z = static_cast<float>(rng.uniform(low, high));
}

/// Steps of 1/16 around `top` - 1: what logits look like that were stored in 8 bits.
void fill_coarse(Rng& rng, std::span<float> row, double top) {
  for (float& z : row) z = static_cast<float>(top - static_cast<double>(rng.integer(0, 40)) / 16);
}

/// `share` of the entries at the top, the others `drop` below it.
void fill_two_levels(Rng& rng, std::span<float> row, double top, double drop, double share) {
  for (float& z : row) z = static_cast<float>(rng.chance(share) ? top : top - drop);
}

/// Ascending, descending, sawtooth: `slope` over the row, a little noise of its own step's size.
void fill_ramp(Rng& rng, std::span<float> row, double from, double slope, std::int64_t teeth) {
  const auto count = std::ssize(row);
  const std::int64_t tooth = std::max<std::int64_t>(1, count / teeth);
  for (std::int64_t j = 0; j < count; ++j) {
    const double step =
        (static_cast<double>(j % tooth) + rng.uniform()) / static_cast<double>(tooth);
    row[static_cast<std::size_t>(j)] = static_cast<float>(from + slope * step);
  }
}

// Neighbours in the order of floats: any key that keeps fewer than 32 bits of the value, because it
// packs the index beside it, calls some of them equal. So does a float that they were scaled to
// first, where they lie right below a power of two; or, even if the scale is one and rounds nothing
// else, where they lie right above the least normal number.
void near_ties(Probe& probe) {
  for (const std::int64_t vocab : {4096, 32'000, 131'072}) {
    Rng rng = probe.begin_case(fmt::format("{}_entries", vocab));
    Problem problem = make_problem(rng, 4, vocab + rng.integer(-5, 0),
                                   rng.integer(50, kNeighbours - 1), {-2, 0.9});
    problem.scale = vocab == 32'000 ? 0.5f : static_cast<float>(rng.uniform(0.55, 0.9));
    plant_neighbours(rng, problem.row(0), 1);
    plant_neighbours(rng, problem.row(1), kBelowTwo);
    std::ranges::fill(problem.row(2), 0.0f);
    plant_neighbours(rng, problem.row(2), std::numeric_limits<float>::min());
    if (vocab != 32'000) {
      std::ranges::fill(problem.row(3), 0.0f);
      plant_scaled_ties(rng, problem.row(3), problem.k, problem.scale);
    }
    require_right(probe, problem);
    if (vocab > 4096) continue;
    for (const std::int64_t k : {std::int64_t{1}, rng.integer(2, 8)}) {  // by other ways than many
      problem.k = k;
      require_right(probe, problem);
    }
  }
}

void ties(Probe& probe) {
  constexpr std::int64_t kWinners[] = {1, 5, 31, 33, 64, 100, 257};
  for (const std::int64_t vocab : {40, 1000, 5000, 50'257}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    const std::int64_t k = near_to(rng, one_of(rng, kWinners));
    Problem problem = blank_problem(6, near_to(rng, vocab), k);
    problem.options.threads = static_cast<int>(rng.integer(1, 4));
    const double top = rng.uniform(-2, 2);
    std::ranges::fill(problem.row(0), static_cast<float>(top));
    fill_two_levels(rng, problem.row(1), top, 1.5, 0.5);
    fill_two_levels(rng, problem.row(2), top, 0.75, 0.9);
    fill_coarse(rng, problem.row(3), top);
    // Fewer at the top than are wanted: the last winners come from the second level.
    const double few = 0.5 * static_cast<double>(problem.k) / static_cast<double>(problem.vocab);
    fill_two_levels(rng, problem.row(4), top, 0.25, few);
    for (float& z : problem.row(5)) z = rng.chance(0.5) ? 0.0f : -0.0f;
    require_right(probe, problem, Sums::any);
    problem.options.threads = 7;  // they may share each row, and ties are between parts of it
    require_right(probe, problem, Sums::any);
    problem.k = 1;
    require_right(probe, problem, Sums::any);
    problem.rows = 1;  // which threads share even where each has a row if there are more
    require_right(probe, problem, Sums::any);
  }
}

// Radix digits that do not tell the entries apart: their first buckets hold nearly the whole row,
// which is more than 16 bits can count.
void narrow_range(Probe& probe) {
  for (const std::int64_t k : {50, 257, 1024, 2500}) {
    if (k > 1024 && kit::on_device(probe)) continue;  // which would be at it for seconds
    Rng rng = probe.begin_case(fmt::format("near_{}_winners", k));
    constexpr std::int64_t kFar = 40;  // the others are hardly more than twice what 16 bits count
    Problem problem = blank_problem(3, 131'072 + kFar + rng.integer(0, 9), near_to(rng, k));
    fill_uniform(rng, problem.row(0), 1, 2);
    fill_uniform(rng, problem.row(1), 1, 1.001);
    fill_uniform(rng, problem.row(2), -1.5, -1.25);
    for (std::int64_t i = 0; i < problem.rows; ++i)
      for (const std::int64_t at : random_places(rng, problem.vocab, kFar)) {
        const double far = rng.uniform(4, 9);
        problem.row(i)[static_cast<std::size_t>(at)] = static_cast<float>(at % 2 ? far : -far);
      }
    require_right(probe, problem, Sums::any);
  }
}

// Some rise to a place within the row, behind which nothing counts: who keeps what a block brings
// until the next one has no more of them than of any other block.
void sorted_rows(Probe& probe) {
  constexpr std::int64_t kWinners[] = {10, 64, 300};
  for (const std::int64_t vocab : {1000, 30'000, 100'000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem = blank_problem(8, near_to(rng, vocab), one_of(rng, kWinners));
    for (std::int64_t i = 4; i < problem.rows; ++i) {
      const std::int64_t end = rng.integer(problem.vocab / 2, problem.vocab);
      fill_uniform(rng, problem.row(i), -7, -6);
      fill_ramp(rng, problem.row(i).first(static_cast<std::size_t>(end)), -5, 10, 1);
    }
    fill_ramp(rng, problem.row(0), -5, 10, 1);
    fill_ramp(rng, problem.row(1), 5, -10, 1);
    fill_ramp(rng, problem.row(2), -5, 10, rng.integer(20, 60));
    fill_ramp(rng, problem.row(3), 5, -10, rng.integer(20, 60));
    require_right(probe, problem);
    problem.rows = 1;  // which threads share, one of which has all winners
    problem.options.threads = 7;
    require_right(probe, problem);
  }
}

// One row has zeros of either sign, a second one masked entries, whose order is that of the index.
// Of the longest, 61 % lie between 2 and 8 or between -8 and -2, where the highest byte is one:
// more than 16 bits can count.
void full_sort(Probe& probe) {
  for (const std::int64_t vocab : {1, 2, 33, 257, 1000, 4096, 20'000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem = make_problem(rng, rng.integer(2, 3), near_to(rng, vocab), 1);
    for (float& z : problem.row(0))
      if (rng.chance(0.3)) z = rng.chance(0.5) ? 0.0f : -0.0f;
    for (float& z : problem.row(1))
      if (rng.chance(0.3)) z = -std::numeric_limits<float>::infinity();
    const std::int64_t some = rng.integer(1, problem.vocab);
    for (const std::int64_t k : {problem.vocab, problem.vocab - 1, some, std::int64_t{1}}) {
      problem.k = std::max<std::int64_t>(1, k);
      require_right(probe, problem);
    }
  }
  // A simulated device would take seconds, and 20 000 are more than its shared memory has room for.
  if (kit::on_device(probe)) return;
  Rng rng = probe.begin_case("near_131072_entries");
  const std::int64_t vocab = near_to(rng, 131'072);
  Problem problem = make_problem(rng, 1, vocab, vocab, {rng.chance(0.5) ? 5.0 : -5.0, 3.5});
  require_right(probe, problem);
  problem.k -= rng.integer(1, vocab / 8);
  require_right(probe, problem);
}

}  // namespace

std::vector<Check> order_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"near_ties", "comparison by fewer bits than the value has", correctness, 2, critical},
       near_ties},
      {{"ties", "equal entries taken twice, left out, or in another order", correctness, 2,
        critical},
       ties},
      {{"narrow_range", "candidate buffers that overflow when values are close", correctness, 2,
        critical},
       narrow_range},
      {{"sorted_rows", "stale thresholds on rows that are in order already", correctness, 1, major},
       sorted_rows},
      {{"full_sort", "k equal to the length of the row, k of one", correctness, 1, major},
       full_sort},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
