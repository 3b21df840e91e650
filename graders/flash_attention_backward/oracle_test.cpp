// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

#include "dense.h"
#include "fixtures/jax_fixture.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

std::vector<float> floats(const std::vector<double>& numbers) {
  return {numbers.begin(), numbers.end()};
}

Problem problem_of(const JaxCase& from) {
  Problem problem(from.sizes);
  problem.form.causal = from.causal;
  problem.form.window_left = from.window_left;
  problem.form.window_right = from.window_right;
  problem.form.kv_start = {from.kv_start};
  problem.form.kv_len = {from.kv_len};
  problem.form.scale = from.scale;
  problem.form.softcap = from.softcap;
  problem.q.data = floats(from.q);
  problem.k.data = floats(from.k);
  problem.v.data = floats(from.v);
  problem.dout.data = floats(from.dout);
  problem.dlse = floats(from.dlse);
  attend(problem);
  return problem;
}

/// The oracle's o and lse were rounded to float32, JAX's were not: one rounding of the bound.
void check_close(const std::vector<double>& got, const std::vector<double>& want,
                 const std::vector<double>& bound) {
  REQUIRE(got.size() == want.size());
  for (std::size_t n = 0; n < got.size(); ++n)
    CHECK(std::abs(got[n] - want[n]) <= 0x1p-24 * bound[n] + 1e-15);
}

double largest(const std::vector<double>& numbers) {
  double most = 0;
  for (const double number : numbers) most = std::max(most, std::abs(number));
  return most;
}

}  // namespace

TEST_CASE("the oracle agrees with JAX's automatic differentiation") {
  REQUIRE(kJaxCases.size() == 9);
  for (const JaxCase& from : kJaxCases) {
    CAPTURE(from.name);
    const Expected expected = expect(problem_of(from));
    check_close(expected.value.dq, from.dq, expected.bound.dq);
    check_close(expected.value.dk, from.dk, expected.bound.dk);
    check_close(expected.value.dv, from.dv, expected.bound.dv);
    CHECK(largest(from.dq) > 0.01);
  }
}

TEST_CASE("the grader's forward pass agrees with that of the kit") {
  Rng rng(7);
  Sizes sizes;
  sizes.batch = 2;
  sizes.q_heads = 4;
  sizes.kv_heads = 2;
  sizes.q_len = 23;
  sizes.k_len = 31;
  sizes.dim = 8;
  sizes.value_dim = 5;
  Problem problem = random_problem(rng, sizes);
  problem.form.causal = true;
  problem.form.window_left = 9;
  problem.form.softcap = 4;
  problem.form.kv_start = {3, 0};
  problem.form.kv_len = {15, 31};
  attend(problem);

  kit::AttentionProblem form = problem.form;
  form.q = problem.q.view();
  form.k = problem.k.view();
  form.v = problem.v.view();
  const kit::AttentionForward forward = kit::attention_forward(form);
  for (std::size_t n = 0; n < forward.o.size(); ++n)
    CHECK(problem.o.data[n] == doctest::Approx(forward.o[n]).epsilon(1e-6));
  for (std::size_t n = 0; n < forward.lse.size(); ++n) {
    if (std::isinf(forward.lse[n]))
      CHECK(problem.lse[n] == -INFINITY);
    else
      CHECK(problem.lse[n] == doctest::Approx(forward.lse[n]).epsilon(1e-6));
  }
}

TEST_CASE("given o and lse are used as they are") {
  Rng rng(8);
  Sizes sizes;
  sizes.q_len = 6;
  sizes.k_len = 9;
  sizes.dim = sizes.value_dim = 4;
  Problem problem = random_problem(rng, sizes);
  attend(problem);
  const Expected before = expect(problem);
  for (float& lse : problem.lse) lse += 1;  // every weight by 1/e
  const Expected after = expect(problem);
  for (std::size_t n = 0; n < before.value.dv.size(); ++n)
    CHECK(after.value.dv[n] == doctest::Approx(before.value.dv[n] / std::exp(1.0)).epsilon(1e-6));
  std::ranges::fill(problem.o.data, 0.0f);
  CHECK(largest(expect(problem).value.delta) == 0);
}

TEST_CASE("the bound holds what a small cap makes of the rounding of terms that cancel") {
  Problem problem({1, 1, 1, 1, 1, 2, 1});
  problem.form.scale = 1;
  problem.form.softcap = 1e-4f;
  problem.q.data = {1, 1};
  problem.k.data = {0.75f + 6e-5f, -0.75f};  // x is near the cap, its terms are not
  problem.v.data = problem.dout.data = {1};
  problem.o.data = problem.lse = {0};
  const Expected expected = expect(problem);
  double most = 0;
  for (const double moved : {-kRoundings, kRoundings}) {
    problem.k.data[0] = static_cast<float>(0.75f + 6e-5f + 1.5 * moved);
    most = std::max(most, std::abs(expect(problem).value.dq[1] - expected.value.dq[1]));
  }
  const double allowed = kRoundings * expected.bound.dq[1];
  CHECK(most <= allowed);
  CHECK(most > 0.9 * allowed);
}

TEST_CASE("rows without keys and keys without queries have a bound of 0") {
  Rng rng(9);
  Sizes sizes;
  sizes.q_len = 7;
  sizes.k_len = 4;
  sizes.dim = sizes.value_dim = 3;
  Problem above = random_problem(rng, sizes);
  above.form.causal = true;
  attend(above);
  const Expected expected = expect(above);
  for (std::size_t n = 0; n < expected.bound.dq.size(); ++n) {
    CHECK((expected.bound.dq[n] == 0) == (n < 9));  // the first three queries see nothing
    CHECK((n >= 9 || expected.value.dq[n] == 0));
  }

  sizes.q_len = 2;
  sizes.k_len = 8;
  Problem before = random_problem(rng, sizes);
  before.form.window_left = 1;
  attend(before);
  const Expected unseen = expect(before);
  for (std::size_t n = 0; n < unseen.bound.dk.size(); ++n)
    CHECK((unseen.bound.dk[n] == 0) == (n < 15));  // query 0 stands at key 6 and sees 5
}

TEST_CASE("what stands in keys that do not exist changes nothing") {
  Rng rng(10);
  Sizes sizes;
  sizes.q_len = 5;
  sizes.k_len = 9;
  sizes.dim = sizes.value_dim = 3;
  Problem problem = random_problem(rng, sizes);
  problem.form.kv_start = {2};
  problem.form.kv_len = {4};
  attend(problem);
  const Expected clean = expect(problem);
  problem.k.row(0, 0, 1)[0] = NAN;
  problem.v.row(0, 0, 6)[2] = INFINITY;
  attend(problem);
  const Expected spoiled = expect(problem);
  CHECK(spoiled.value.dq == clean.value.dq);
  CHECK(spoiled.value.dk == clean.value.dk);
  CHECK(spoiled.value.dv == clean.value.dv);
}
