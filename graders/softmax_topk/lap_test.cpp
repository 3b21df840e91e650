// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

#include "graders/kit/laps.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

/// The sum of exp(z - maximum) over a row, each in its own way.
using Summed = double (*)(std::span<const float> row, double max);

double exact_sum(std::span<const float> row, double max) {
  double sum = 0;
  for (const float z : row) sum += std::exp(z - max);
  return sum;
}

/// In float, rescaled wherever a new maximum comes, with what additions round off kept (Kahan).
double rescaled_sum(std::span<const float> row, double) {
  float max = row[0];
  float sum = 0;
  float lost = 0;
  for (const float z : row) {
    if (z > max) {
      const float factor = std::exp(max - z);
      sum *= factor;
      lost *= factor;
      max = z;
    }
    const float term = std::exp(z - max) - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  return double{sum};
}

/// The same without keeping what is lost: what a plain loop does.
double naive_sum(std::span<const float> row, double) {
  float max = row[0];
  float sum = 0;
  for (const float z : row) {
    if (z > max) {
      sum *= std::exp(max - z);
      max = z;
    }
    sum += std::exp(z - max);
  }
  return double{sum};
}

double cheap_sum(std::span<const float> row, double max) {
  return exact_sum(row, max) * 1.0001;
}

Answer answer_by(const Problem& problem, Summed summed) {
  const Expected expected = expect(problem, Sums::careful);
  Answer answer;
  answer.indices = expected.indices;
  answer.row_max.assign(expected.row_max.begin(), expected.row_max.end());
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto row = problem.row(i);
    const double max = expected.row_max[static_cast<std::size_t>(i)];
    const double sum = summed(row, max);
    answer.lse.push_back(static_cast<float>(max + std::log(sum)));
    for (std::int64_t j = 0; j < problem.k; ++j) {
      const auto at = static_cast<std::size_t>(answer.indices[answer.probs.size()]);
      answer.probs.push_back(static_cast<float>(std::exp(double{row[at]} - max) / sum));
    }
  }
  return answer;
}

Problem filled(std::uint64_t seed, std::int64_t rows, std::int64_t vocab, Fill fill) {
  Rng rng(seed);
  Problem problem = blank_problem(rows, vocab, 12);
  for (std::int64_t i = 0; i < rows; ++i) fill(rng, problem.row(i));
  return problem;
}

}  // namespace

TEST_CASE("timed laps are refused for any wrong index and any wrong probability of any row") {
  const Problem problem = filled(3, 40, 900, fill_random);
  const LapJudge judge(problem, {5});
  const Answer right = answer_by(problem, exact_sum);
  CHECK_FALSE(judge.miss(right).has_value());
  for (std::size_t row = 0; row < 40; ++row) {
    Answer wrong = right;
    std::int32_t& last = wrong.indices[row * 12 + 11];
    last = (last + 1) % 900;
    CHECK(judge.miss(wrong).has_value());
    wrong = right;
    wrong.probs[row * 12 + 3] *= 1.01f;
    CHECK(judge.miss(wrong).has_value());
  }
}

TEST_CASE("timed laps are refused when the sums of all rows are off by 1e-4") {
  for (const Fill fill : {fill_random, fill_ascending, fill_sawtooth})
    for (const std::int64_t vocab : {32'000, 131'072}) {
      const Problem problem = filled(4, 5, vocab, fill);
      CHECK(LapJudge(problem, {2}).miss(answer_by(problem, cheap_sum)).has_value());
    }
}

TEST_CASE("a running sum that is rescaled all the time uses a fifth of the tolerance of laps") {
  const Problem problem = filled(5, 24, 131'072, fill_ascending);
  const Answer answer = answer_by(problem, rescaled_sum);
  CHECK(share_used(problem, answer, expect(problem, Sums::rescaled)) <= 0.2);
  // Without what is forgiven for rescaling it would use more.
  CHECK(share_used(problem, answer, expect(problem, Sums::careful)) > 0.25);
}

// Terms below half a last place of the sum so far are lost, all of them: 26 times what the contract
// grants among 131072 random logits, and 1000 times among four million.
TEST_CASE("one float that takes all terms leaves the contract's tolerance, and is refused") {
  for (const std::int64_t vocab : {131'072, 4'194'304}) {
    const Problem problem = filled(6, 1, vocab, fill_random);
    const Answer answer = answer_by(problem, naive_sum);
    CHECK(share_used(problem, answer, expect(problem, Sums::careful)) > 5);
    CHECK(LapJudge(problem, {0}).miss(answer).has_value());
  }
}

TEST_CASE("sums are judged in full in every row that is named") {
  const Problem problem = filled(8, 40, 32'000, fill_random);
  const Answer right = answer_by(problem, exact_sum);
  CHECK_FALSE(LapJudge(problem, kit::all_of(40)).miss(right).has_value());
  const Answer cheap = answer_by(problem, cheap_sum);
  for (std::size_t row = 0; row < 40; ++row) {
    Answer wrong = right;  // the row agrees with itself, and is as wrong as a cheap exponential
    wrong.lse[row] = cheap.lse[row];
    std::copy_n(cheap.probs.begin() + std::ptrdiff_t(row) * 12, 12,
                wrong.probs.begin() + std::ptrdiff_t(row) * 12);
    CHECK(LapJudge(problem, kit::all_of(40)).miss(wrong).has_value());
  }
}
