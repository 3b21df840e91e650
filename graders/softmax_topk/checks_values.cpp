// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/device.h"
#include "graders/kit/inputs.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::kInfinity;
using kit::kNan;

/// Leaves `count` entries of the row as they are, at random places, and masks the others.
void leave(Rng& rng, std::span<float> row, std::int64_t count) {
  std::vector<float> masked(row.size(), -kInfinity);
  for (const std::int64_t at : random_places(rng, std::ssize(row), count))
    masked[static_cast<std::size_t>(at)] = row[static_cast<std::size_t>(at)];
  std::ranges::copy(masked, row.begin());
}

// A masked entry is an entry: it has an index and a place in the order, and probability 0.
void masked_rows(Probe& probe) {
  constexpr std::int64_t kWinners[] = {5, 33, 60};
  // The longest has a half that is longer than what 16 bits can count.
  for (const std::int64_t vocab : {65, 1000, 20'000, 140'000}) {
    if (vocab > 20'000 && kit::on_device(probe)) continue;
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem =
        make_problem(rng, 10, near_to(rng, vocab), near_to(rng, one_of(rng, kWinners)));
    const std::int64_t k = problem.k;
    const std::int64_t counts[] = {0, 1, k - 1, k, k + 3, problem.vocab / 2};
    for (std::int64_t i = 0; i < std::ssize(counts); ++i)
      leave(rng, problem.row(i), counts[static_cast<std::size_t>(i)]);
    const auto half = problem.width() / 2;
    std::ranges::fill(problem.row(6).first(half), -kInfinity);
    std::ranges::fill(problem.row(7).subspan(half), -kInfinity);
    std::ranges::fill(problem.row(8).first(problem.width() - 1), -kInfinity);
    std::ranges::fill(problem.row(9).subspan(1), -kInfinity);
    require_right(probe, problem);
  }
}

// Everything below any sentinel that is not an infinity, and values that differ by their last bits
// around zero.
void negative_rows(Probe& probe) {
  for (const std::int64_t vocab : {70, 3000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem = make_problem(rng, 8, near_to(rng, vocab), near_to(rng, 40));
    fill_noise(rng, problem.row(0), {-1e4, 3});
    fill_noise(rng, problem.row(1), {-1e30, 1e29});
    fill_noise(rng, problem.row(2), {-3.3e38, 2e36});
    for (float& z : problem.row(3)) z = static_cast<float>(rng.integer(-300, 300)) * 0x1p-149f;
    for (float& z : problem.row(4)) z = static_cast<float>(rng.integer(-1, 1)) * 0x1p-149f;
    for (float& z : problem.row(5))
      z = rng.chance(0.5) ? 0.0f : rng.chance(0.5) ? -0.0f : -0x1p-149f;
    fill_noise(rng, problem.row(6), {-70, 3});
    for (float& z : problem.row(7)) z = rng.chance(0.5) ? -1e30f : -2e30f;  // lse is the maximum
    require_right(probe, problem, Sums::any);
  }
}

void row_isolation(Probe& probe) {
  for (const std::int64_t vocab : {50, 1000, 9000}) {
    Rng rng = probe.begin_case(fmt::format("near_{}_entries", vocab));
    Problem problem = make_problem(rng, rng.integer(9, 14), near_to(rng, vocab), near_to(rng, 20));
    for (std::int64_t i = rng.integer(0, 1); i < problem.rows; i += rng.integer(2, 3)) {
      const float bad =
          rng.chance(0.7) ? std::copysign(kNan, rng.chance(0.5) ? -1.0f : 1.0f) : kInfinity;
      const std::int64_t count = rng.chance(0.3) ? problem.vocab : rng.integer(1, problem.vocab);
      for (const std::int64_t at : random_places(rng, problem.vocab, count))
        problem.row(i)[static_cast<std::size_t>(at)] = bad;
    }
    require_right(probe, problem);
    // Spoiled or not, a row has no entries behind its length.
    for (std::int64_t i = 0; i < problem.rows; ++i) {
      problem.valid_len.push_back(rng.integer(1, problem.k - 1));
      if (i % 2 == 0) problem.row(i)[0] = kNan;
    }
    require_right(probe, problem);
  }
}

}  // namespace

std::vector<Check> values_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"masked_rows", "NaN, missing or repeated indices where logits are -inf", correctness, 2,
        critical},
       masked_rows},
      {{"negative_rows", "a finite number standing for -inf; -0 below +0", correctness, 2,
        critical},
       negative_rows},
      {{"row_isolation", "a NaN or an infinity that leaves its row", robustness, 2, critical},
       row_isolation},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
