#include "lap.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

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
  Rng rng(9);
  const LapJudge judge(problem, rng);
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
      Rng rng(9);
      CHECK(LapJudge(problem, rng).miss(answer_by(problem, cheap_sum)).has_value());
    }
}

TEST_CASE("a running sum that is rescaled all the time uses a fifth of the tolerance of laps") {
  const Problem problem = filled(5, 24, 131'072, fill_ascending);
  const Answer answer = answer_by(problem, rescaled_sum);
  CHECK(share_used(problem, answer, expect(problem, Sums::rescaled)) <= 0.2);
  // Without what is forgiven for rescaling it would use more.
  CHECK(share_used(problem, answer, expect(problem, Sums::careful)) > 0.25);
}
