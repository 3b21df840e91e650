// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <cmath>
#include <doctest/doctest.h>

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

std::vector<float> rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("timed laps are judged by the same answers and bounds as small cases") {
  Rng rng(3);
  for (const bool given : {false, true}) {
    Problem problem = make_big_problem(rng, 20, 37, {3, 2, 0.3, 1});
    if (given) give_true_statistics(problem);
    const Expected expected = expect(problem);
    const LapOracle oracle(problem);
    std::vector<float> y = rounded(expected.y);
    CHECK_FALSE(oracle.judge_y(y));
    y[3 * 37 + 8] =
        static_cast<float>(expected.y[3 * 37 + 8] + 1.1 * expected.y_allowed[3 * 37 + 8]);
    REQUIRE(oracle.judge_y(y));
    CHECK(oracle.judge_y(y)->where == "y[3][8]");

    std::vector<float> dx = rounded(expected.dx);
    const std::vector<float> dgamma = rounded(expected.dgamma);
    const std::vector<float> dbeta = rounded(expected.dbeta);
    CHECK_FALSE(oracle.judge_gradients(dx, dgamma, dbeta));

    const std::size_t at = 11 * 37 + 5;
    const float keep = dx[at];
    dx[at] = static_cast<float>(expected.dx[at] + 0.9 * expected.dx_allowed[at]);
    CHECK_FALSE(oracle.judge_gradients(dx, dgamma, dbeta));
    dx[at] = static_cast<float>(expected.dx[at] + 1.1 * expected.dx_allowed[at]);
    REQUIRE(oracle.judge_gradients(dx, dgamma, dbeta));
    CHECK(oracle.judge_gradients(dx, dgamma, dbeta)->where == "dx[11][5]");
    dx[at] = NAN;
    CHECK(oracle.judge_gradients(dx, dgamma, dbeta));
    dx[at] = keep;

    for (const bool gamma : {false, true}) {
      std::vector<float> sums = gamma ? dgamma : dbeta;
      const auto& want = gamma ? expected.dgamma : expected.dbeta;
      const auto& allowed = gamma ? expected.dgamma_allowed : expected.dbeta_allowed;
      const auto judged = [&] {
        return gamma ? oracle.judge_gradients(dx, sums, dbeta)
                     : oracle.judge_gradients(dx, dgamma, sums);
      };
      sums[36] = static_cast<float>(want[36] + 0.9 * allowed[36]);
      CHECK_FALSE(judged());
      sums[36] = static_cast<float>(want[36] - 1.1 * allowed[36]);
      CHECK(judged());
    }
  }
}
