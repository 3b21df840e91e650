// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include "fixtures/jax_fixture.h"

namespace {

using namespace gauntlet::GAUNTLET_CHALLENGE;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Setup setup_of(const JaxCase& from) {
  Setup setup{.heads = from.kv_heads};
  setup.key_dim = setup.value_dim = from.dim;
  return setup;
}

Problem problem_of(const JaxCase& from) {
  Problem problem;
  problem.which = {0};
  problem.queries = {from.queries};
  problem.key_begin = {from.begin};
  problem.key_end = {from.end};
  problem.q_heads = from.q_heads;
  problem.window = from.window;
  problem.scale = 0.75f;
  problem.q = from.q;
  return problem;
}

void check_near(const std::vector<double>& got, const std::vector<float>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == doctest::Approx(want[i]).epsilon(2e-6));  // JAX computes in float
}

/// One head, one dimension: keys and values are the numbers given, the query is 1.
Expected attend_line(const std::vector<float>& keys, const std::vector<float>& values,
                     std::int64_t window = -1) {
  Setup setup;
  setup.heads = setup.key_dim = setup.value_dim = 1;
  Problem problem;
  problem.which = {0};
  problem.queries = {1};
  problem.q_heads = 1;
  problem.window = window;
  problem.scale = 1;
  problem.q = {1};
  return expect(setup, {{keys, values}}, problem);
}

}  // namespace

TEST_CASE("the oracle agrees with JAX") {
  for (const JaxCase& one : kJaxCases) {
    INFO(one.name);
    const Expected expected = expect(setup_of(one), {{one.k, one.v}}, problem_of(one));
    check_near(expected.out, one.out);
    check_near(expected.lse, one.lse);
  }
}

TEST_CASE("attention by hand") {
  // Weights 1, 3 and 4 of 8.
  const Expected three = attend_line({0, std::log(3.0f), std::log(4.0f)}, {8, 16, -8});
  CHECK(three.out[0] == doctest::Approx(1 + 6 - 4).epsilon(1e-7));
  CHECK(three.lse[0] == doctest::Approx(std::log(8.0)).epsilon(1e-7));
  // A window of 1 leaves the last two: weights 3 and 4 of 7.
  const Expected two = attend_line({0, std::log(3.0f), std::log(4.0f)}, {8, 14, -7}, 1);
  CHECK(two.out[0] == doctest::Approx(6 - 4).epsilon(1e-7));
  const Expected none = attend_line({}, {});
  CHECK(none.out[0] == 0);
  CHECK(none.out_allowed[0] == 0);
  CHECK(none.lse[0] == -kInfinity);
}

TEST_CASE("scores far beyond the range of exp") {
  const Expected far = attend_line({-5000, 4000, 3999}, {1, 2, 3});
  CHECK(far.lse[0] == doctest::Approx(4000 + std::log1p(std::exp(-1.0))));
  CHECK(far.out[0] == doctest::Approx((2 + 3 * std::exp(-1.0)) / (1 + std::exp(-1.0))));
}

TEST_CASE("tolerances of quantised values follow their group") {
  Setup setup{.heads = 1, .key_dim = 1, .value_dim = 4, .group = 2};
  Problem problem;
  problem.which = {0};
  problem.queries = {1};
  problem.q_heads = 1;
  problem.q = {0};
  const std::vector<Tokens> stored{{{1}, {0.5f, -8, 0, 0.25f}}};
  const Expected plain = expect(setup, stored, problem);
  CHECK(plain.out_allowed[0] == doctest::Approx(plain.out_allowed[1] / 16));
  setup.stored = KV_INT4;
  const Expected grouped = expect(setup, stored, problem);
  CHECK(grouped.out_allowed[0] == grouped.out_allowed[1]);
  CHECK(grouped.out_allowed[2] == grouped.out_allowed[3]);
  CHECK(grouped.out_allowed[1] == plain.out_allowed[1]);
}

TEST_CASE("rows that are not wanted may be anything finite") {
  const JaxCase& one = kJaxCases[0];
  int asked = 0;
  const Expected expected =
      expect(setup_of(one), {{one.k, one.v}}, problem_of(one), [&] { return asked++ == 1; });
  CHECK(asked == 4);
  CHECK(expected.lse_allowed[0] == kInfinity);
  CHECK(expected.lse_allowed[1] < 1e-3);
}

TEST_CASE("merging the parts of a row gives the row") {
  const std::vector<float> keys{0.5f, -2, 3, 1, 0.25f, 7};
  const std::vector<float> values{1, 2, -3, 4, 0.5f, -1};
  const Expected whole = attend_line(keys, values);
  Parts parts{4, 1, 1, {}, {}};
  for (const auto& [begin, end] : {std::pair{0, 2}, {2, 2}, {2, 5}, {5, 6}}) {
    const Expected part = attend_line({keys.begin() + begin, keys.begin() + end},
                                      {values.begin() + begin, values.begin() + end});
    parts.out.push_back(begin == end ? std::nanf("") : static_cast<float>(part.out[0]));
    parts.lse.push_back(static_cast<float>(part.lse[0]));
  }
  const Expected merged = expect(parts);
  CHECK(merged.out[0] == doctest::Approx(whole.out[0]).epsilon(1e-6));
  CHECK(merged.lse[0] == doctest::Approx(whole.lse[0]).epsilon(1e-6));
}

TEST_CASE("merging nothing") {
  const float none = -std::numeric_limits<float>::infinity();
  const Expected empty = expect({2, 1, 2, {NAN, NAN, NAN, NAN}, {none, none}});
  CHECK(empty.out == std::vector<double>{0, 0});
  CHECK(empty.lse[0] == -kInfinity);
  CHECK(empty.out_allowed == std::vector<double>{0, 0});
}

TEST_CASE("half a step") {
  Setup setup{.group = 3};
  const std::vector<float> numbers{5, 5.5f, 6.5f, -2.54f};
  setup.stored = KV_INT4;
  const auto nibbles = storage_allowed(setup, numbers, 4);
  CHECK(nibbles[0] == doctest::Approx(1.5 / 15 / 2).epsilon(2e-3));
  CHECK(nibbles[2] == nibbles[0]);
  CHECK(nibbles[3] == doctest::Approx(2.54 * 0x1p-20).epsilon(1e-5));  // a group of one is exact
  setup.stored = KV_INT8;
  CHECK(storage_allowed(setup, numbers, 4)[3] == doctest::Approx(0.01).epsilon(2e-3));
  setup.stored = KV_F32;
  CHECK(storage_allowed(setup, numbers, 4) == std::vector<double>(4, 0));
}
