// SPDX-License-Identifier: Apache-2.0
#include "quantizer.h"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "half.h"
#include "harness/core/rng.h"
#include "oracle.h"
#include "problem.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

using Codes = std::vector<std::int8_t>;
using Scales = std::vector<std::uint16_t>;

TernaryMatrix of(const std::vector<float>& weight, std::int64_t columns, std::int64_t group) {
  return quantized(weight, std::ssize(weight) / columns, columns, group);
}

}  // namespace

TEST_CASE("every half is nearest to itself, and neighbours meet at their middle") {
  for (std::uint16_t bits = 0; bits < kHalfInfinity; ++bits) {
    const double value = half_value(bits);
    REQUIRE(nearest_half(value) == bits);
    const double next = bits + 1 == kHalfInfinity ? 65536 : half_value(bits + 1);
    const double middle = (value + next) / 2;
    const std::uint16_t even = bits % 2 == 0 ? bits : bits + 1;
    REQUIRE(nearest_half(middle) == even);
    REQUIRE(nearest_half(std::nextafter(middle, 0)) == bits);
    REQUIRE(nearest_half(std::nextafter(middle, 1e6)) == bits + 1);
  }
}

TEST_CASE("halves have the values of the standard") {
  CHECK(half_value(0x3c00) == 1);
  CHECK(half_value(0x0001) == std::ldexp(1, -24));
  CHECK(half_value(0x7bff) == 65504);
  CHECK(half_value(0xc000) == -2);
  CHECK(half_value(kHalfInfinity) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(half_value(0x7c01)));
}

TEST_CASE("a quotient is rounded once") {
  // (1 + 2^-11 + a little) as a third of three times as much: the middle between two halves.
  const __float128 middle = 1 + std::ldexp(1, -11);
  CHECK(nearest_half(3 * middle, 3) == 0x3c00);
  CHECK(nearest_half(3 * middle + std::ldexp(1, -60), 3) == 0x3c01);
}

TEST_CASE("the quantiser does what the design notes list") {
  const TernaryMatrix ties = of({1, 0.5f, -0.5f, 2}, 4, 4);
  CHECK(ties.codes == Codes{1, 0, 0, 1});
  CHECK(ties.scales == Scales{0x3c00});
  const TernaryMatrix groups = of({1, 1, 1, 1, .01f, .01f, .01f, .01f}, 8, 4);
  CHECK(groups.codes == Codes(8, 1));
  CHECK(groups.scales == Scales{0x3c00, 0x211f});
  const TernaryMatrix tiny = of({1e-5f, 1e-5f, 1e-5f, 1e-5f, 1e-9f, 1e-9f, 1e-9f, 0}, 8, 4);
  CHECK(tiny.scales == Scales{0x00a8, 0});
  CHECK(tiny.codes == Codes{1, 1, 1, 1, 0, 0, 0, 0});
  const TernaryMatrix once = of({1, .4f, -1, .1f}, 4, 4);
  CHECK(half_value(once.scales[0]) == .625);
  CHECK(once.codes == Codes{1, 1, -1, 0});
  const TernaryMatrix again = of({.625f, .625f, -.625f, 0}, 4, 4);
  CHECK(half_value(again.scales[0]) == .46875);
  CHECK(again.codes == once.codes);
  CHECK(of({7e4f, 7e4f, 7e4f, 7e4f}, 4, 4).scales == Scales{kHalfInfinity});
}

TEST_CASE("the linear oracle agrees with differences of the loss") {
  Rng rng(5);
  const LinearProblem problem = linear_problem(rng, 5, 2, 4, 3);
  const ExpectedLinear answer = expect(problem);
  const TernaryMatrix matrix = quantized(problem.weight, 5, 8, 4);
  std::vector<double> weight;
  for (std::int64_t r = 0; r < 5; ++r)
    for (std::int64_t c = 0; c < 8; ++c) weight.push_back(matrix.weight(r, c));
  // The loss sum(dy * W x) is linear in W and in x: one step tells the derivative exactly.
  const auto loss = [&](const std::vector<double>& w, const std::vector<double>& x) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t r = 0; r < 5; ++r)
        for (std::size_t c = 0; c < 8; ++c)
          sum += problem.output_gradient[i * 5 + r] * w[r * 8 + c] * x[i * 8 + c];
    return sum;
  };
  const std::vector<double> x(problem.x.begin(), problem.x.end());
  for (std::size_t at = 0; at < weight.size(); ++at) {
    std::vector<double> moved = weight;
    moved[at] += 1;
    CHECK(loss(moved, x) - loss(weight, x) ==
          doctest::Approx(answer.weight_gradient.value[at]).epsilon(1e-9));
  }
  for (std::size_t at = 0; at < x.size(); ++at) {
    std::vector<double> moved = x;
    moved[at] += 1;
    CHECK(loss(weight, moved) - loss(weight, x) ==
          doctest::Approx(answer.input_gradient.value[at]).epsilon(1e-9));
  }
}
