// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <cmath>
#include <doctest/doctest.h>

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
