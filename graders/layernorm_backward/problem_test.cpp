// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

#include "graders/kit/call_options.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

}  // namespace

TEST_CASE("gaps between rows hold NaN, rows do not, and nothing follows the last row") {
  Rng rng(1);
  const Problem problem = make_problem(rng, 3, 5, {}, {2, 4, 1, 3});
  CHECK(problem.x.all().size() == 2 * 7 + 5);
  CHECK(problem.dy.all().size() == 2 * 9 + 5);
  CHECK(std::isnan(problem.x.all()[5]));
  for (std::int64_t i = 0; i < 3; ++i)
    for (const float value : problem.x.row(i)) CHECK(std::isfinite(value));
}

TEST_CASE("another stride of x moves its rows and nothing else") {
  Rng rng(3);
  const Problem problem = make_problem(rng, 3, 5, {}, {2, 4, 1, 3});
  const Problem moved = with_x_stride(problem, 9);
  CHECK(moved.x.stride() == 9);
  CHECK(moved.x.all().size() == 2 * 9 + 5);
  CHECK(std::isnan(moved.x.all()[5]));
  for (std::int64_t i = 0; i < 3; ++i) CHECK(std::ranges::equal(moved.x.row(i), problem.x.row(i)));
  CHECK(moved.dy.stride() == problem.dy.stride());
}

TEST_CASE("numbers near 1e18 are no larger, and sums of equal products of two are exact") {
  Rng rng(4);
  for (int turn = 0; turn < 100; ++turn) {
    const float one = near_1e18(rng), product = one * near_1e18(rng);
    CHECK(std::abs(one) > 5e17f);
    CHECK(std::abs(one) <= 1e18f);
    float sum = 0;
    for (int i = 0; i < 30; ++i) sum += product;
    CHECK(double{sum} == 30 * double{product});
  }
}

TEST_CASE("permuting rows and columns moves whole rows and columns") {
  Rng rng(2);
  const Problem problem = make_problem(rng, 3, 4);
  const Problem rows = with_rows(problem, {2, 0, 1});
  CHECK(rows.x.row(0)[3] == problem.x.row(2)[3]);
  CHECK(rows.dy.row(2)[0] == problem.dy.row(1)[0]);
  const Problem columns = with_columns(problem, {3, 2, 1, 0});
  CHECK(columns.x.row(1)[0] == problem.x.row(1)[3]);
  CHECK(columns.gamma[0] == problem.gamma[3]);
}

TEST_CASE("a ramp moves the halves of a row apart and leaves its mean") {
  Rng rng(5);
  Problem problem = make_problem(rng, 2, 101);
  const Problem flat = problem;
  add_ramp(rng, problem, 4);
  for (std::int64_t i = 0; i < 2; ++i) {
    double moved = 0;
    for (std::size_t j = 0; j < 101; ++j) moved += problem.x.row(i)[j] - flat.x.row(i)[j];
    CHECK(std::abs(moved) < 1e-4);
    CHECK(std::abs(problem.x.row(i)[0] - flat.x.row(i)[0]) == doctest::Approx(2));
    CHECK(std::abs(problem.x.row(i)[100] - flat.x.row(i)[100]) == doctest::Approx(2));
  }
}

TEST_CASE("there are rows that a float loses for every odd number of threads") {
  Rng rng(6);
  for (int threads = 71; threads <= 127; threads += 2) {
    const auto rows = static_cast<float>(rows_that_float_loses(rng, threads));
    const auto parts = static_cast<float>(threads);
    CHECK(static_cast<std::int64_t>(rows * parts / parts) < static_cast<std::int64_t>(rows));
  }
}

TEST_CASE("a double loses the last of the rows that it is said to lose") {
  Rng rng(8);
  for (int turn = 0; turn < 20; ++turn) {
    const Cut cut = cut_that_double_loses(rng, {43'000, 49}, {53'000, 103});
    const double share = static_cast<double>(cut.rows) / cut.threads;
    CHECK(static_cast<std::int64_t>(share * cut.threads) == cut.rows - 1);
  }
}

TEST_CASE("a tall problem has rows that 32 bits do not hold for each of its threads") {
  Rng rng(7);
  const Problem problem = make_tall_problem(rng, kit::kManyThreads);
  CHECK(problem.rows * kit::kManyThreads >= std::int64_t{1} << 32);
  CHECK(std::ssize(problem.x.all()) == problem.rows);
  CHECK(std::ssize(problem.dy.all()) == problem.rows);
}
