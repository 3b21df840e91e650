// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include "judge.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The oracle's own answer, rounded to float.
Answer right_answer(const Problem& problem) {
  const Expected expected = expect(problem, Sums::careful);
  Answer answer;
  answer.indices = expected.indices;
  answer.probs.assign(expected.probs.begin(), expected.probs.end());
  answer.lse.assign(expected.lse.begin(), expected.lse.end());
  answer.row_max.assign(expected.row_max.begin(), expected.row_max.end());
  return answer;
}

Problem drawn(std::uint64_t seed, std::int64_t rows, std::int64_t vocab, std::int64_t k) {
  Rng rng(seed);
  return make_problem(rng, rows, vocab, k);
}

bool accepted(const Problem& problem, const Answer& answer, Sums sums = Sums::careful) {
  return !fault_in(problem, answer, expect(problem, sums)).has_value();
}

}  // namespace

TEST_CASE("equal entries come in ascending order of the index, whatever their sign of zero") {
  Problem problem = blank_problem(1, 6, 4);
  problem.logits = {-0.0f, -1.0f, 0.0f, 2.0f, 0.0f, 2.0f};
  CHECK(expect(problem, Sums::careful).indices == std::vector<std::int32_t>{3, 5, 0, 2});
}

TEST_CASE("masked entries keep their places, and entries behind the length have none") {
  Problem problem = blank_problem(2, 5, 4);
  problem.logits = {-kInfinity, 1, -kInfinity, 9, 9, -kInfinity, -kInfinity, 9, 9, 9};
  problem.valid_len = {3, 2};
  const Expected expected = expect(problem, Sums::careful);
  CHECK(expected.indices == std::vector<std::int32_t>{1, 0, 2, -1, 0, 1, -1, -1});
  CHECK(expected.probs == std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0});
  CHECK(expected.lse == std::vector<double>{1, -INFINITY});
  CHECK(expected.row_max == std::vector<double>{1, -INFINITY});
}

TEST_CASE("probabilities do not suffer from an lse that is the maximum") {
  Problem problem = blank_problem(1, 4, 4);
  std::ranges::fill(problem.logits, -1e30f);
  CHECK(expect(problem, Sums::careful).probs == std::vector<double>(4, 0.25));
}

TEST_CASE("a right answer is accepted and every kind of wrong one is not") {
  const Problem problem = drawn(1, 3, 500, 7);
  const Answer right = right_answer(problem);
  CHECK(accepted(problem, right));
  Answer wrong = right;
  std::swap(wrong.indices[9], wrong.indices[10]);
  CHECK_FALSE(accepted(problem, wrong));
  wrong = right;
  wrong.probs[20] *= 1.0001f;
  CHECK_FALSE(accepted(problem, wrong));
  wrong = right;
  wrong.lse[2] += 1e-4f;
  CHECK_FALSE(accepted(problem, wrong));
  wrong = right;
  wrong.row_max[0] =
      std::nextafter(std::nextafter(std::nextafter(right.row_max[0], 99.f), 99.f), 99.f);
  CHECK_FALSE(accepted(problem, wrong));
  wrong = right;
  wrong.probs[0] = kNan;
  CHECK_FALSE(accepted(problem, wrong));
}

TEST_CASE("a plain float sum is forgiven where it may be, and not where care is asked for") {
  Problem problem = blank_problem(1, 200'000, 3);
  std::ranges::fill(problem.logits, -0.3f);
  problem.logits[77] = 0;
  Answer answer = right_answer(problem);
  float sum = 0;
  for (const float z : problem.logits) sum += std::exp(z);
  for (std::size_t j = 0; j < 3; ++j)
    answer.probs[j] = std::exp(problem.logits[static_cast<std::size_t>(answer.indices[j])]) / sum;
  answer.lse[0] = std::log(sum);
  CHECK(accepted(problem, answer, Sums::any));
  CHECK_FALSE(accepted(problem, answer, Sums::careful));
}

TEST_CASE("a spoiled row is asked for different indices inside of it and for nothing else") {
  Problem problem = drawn(2, 1, 10, 3);
  problem.logits[4] = kNan;
  Answer answer{{9, 4, 0}, {kNan, 5, 0}, {kNan}, {kNan}};
  CHECK(accepted(problem, answer));
  answer.indices[2] = 4;
  CHECK_FALSE(accepted(problem, answer));
  answer.indices[2] = 10;
  CHECK_FALSE(accepted(problem, answer));
}

TEST_CASE("a spoiled row has no entries behind its length either") {
  Problem problem = drawn(2, 1, 10, 5);
  problem.logits[1] = kNan;
  problem.valid_len = {3};
  Answer answer{{2, 1, 0, -1, -1}, std::vector<float>(5, kNan), {kNan}, {kNan}};
  CHECK(accepted(problem, answer));
  answer.indices[4] = 4;
  CHECK_FALSE(accepted(problem, answer));
}
