#include <doctest/doctest.h>

#include "gradients_fixture.h"
#include "oracle.h"

namespace {

using namespace gauntlet::GAUNTLET_CHALLENGE;

Rows rows_from(const std::vector<double>& values, std::int64_t rows, std::int64_t cols) {
  Rows made(rows, cols, cols, 0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      made.row(i)[static_cast<std::size_t>(j)] =
          static_cast<float>(values[static_cast<std::size_t>(i * cols + j)]);
  return made;
}

Problem problem_from(const GradientFixture& fixture) {
  Problem made;
  made.rows = fixture.rows;
  made.cols = fixture.cols;
  made.eps = fixture.eps;
  made.x = rows_from(fixture.x, fixture.rows, fixture.cols);
  made.dy = rows_from(fixture.dy, fixture.rows, fixture.cols);
  made.gamma.assign(fixture.gamma.begin(), fixture.gamma.end());
  made.beta.assign(fixture.beta.begin(), fixture.beta.end());
  return made;
}

// The float64 oracle loses some digits to the offset of a row; 1e-10 leaves it those and no more.
void check_close(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    CHECK(got[k] == doctest::Approx(want[k]).epsilon(1e-10));
}

}  // namespace

TEST_CASE("the oracle agrees with 80-digit differences of the forward pass") {
  for (const GradientFixture& fixture : kGradientFixtures) {
    INFO(fixture.name);
    const Expected expected = expect(problem_from(fixture));
    check_close(expected.y, fixture.y);
    check_close(expected.dx, fixture.dx);
    check_close(expected.dgamma, fixture.dgamma);
    check_close(expected.dbeta, fixture.dbeta);
  }
}
