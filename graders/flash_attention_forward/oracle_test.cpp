// SPDX-License-Identifier: Apache-2.0
// The oracle against an outside implementation: fixtures/make_jax_fixture.py says how it was asked.
#include <doctest/doctest.h>

#include "fixtures/jax_fixture.h"
#include "graders/kit/attention.h"

using namespace gauntlet;

namespace {

/// [batch][row][head][dim], as JAX has it.
kit::RowsView view(const std::vector<float>& data, std::int64_t rows, std::int64_t heads,
                   std::int64_t dim) {
  return {data.data(), rows * heads * dim, dim, heads * dim};
}

kit::AttentionProblem problem_of(const JaxCase& jax) {
  kit::AttentionProblem problem;
  problem.batch = jax.batch;
  problem.q_heads = jax.q_heads;
  problem.kv_heads = jax.kv_heads;
  problem.q_len = jax.q_len;
  problem.k_len = jax.k_len;
  problem.dim = problem.value_dim = jax.dim;
  problem.q = view(jax.q, jax.q_len, jax.q_heads, jax.dim);
  problem.k = view(jax.k, jax.k_len, jax.kv_heads, jax.dim);
  problem.v = view(jax.v, jax.k_len, jax.kv_heads, jax.dim);
  problem.scale = 0.75;
  problem.causal = jax.causal;
  problem.window_left = jax.window_left;
  problem.window_right = jax.window_right;
  return problem;
}

/// Short keys with queries that still stand at the start: JAX aligns there, the oracle at the end,
/// which makes no difference without a causal mask or a window.
void set_lengths(kit::AttentionProblem& problem, const JaxCase& jax) {
  REQUIRE((jax.kv_len.empty() || (!jax.causal && jax.window_left < 0)));
  problem.kv_len = jax.kv_len;
}

}  // namespace

TEST_CASE("the oracle gives JAX's outputs and log-sum-exps") {
  REQUIRE(kJaxCases.size() == 5);
  for (const JaxCase& jax : kJaxCases) {
    CAPTURE(jax.name);
    kit::AttentionProblem problem = problem_of(jax);
    set_lengths(problem, jax);
    const kit::AttentionForward forward = kit::attention_forward(problem);
    REQUIRE(forward.o.size() == jax.o.size());
    REQUIRE(forward.lse.size() == jax.lse.size());
    for (std::int64_t b = 0; b < jax.batch; ++b)
      for (std::int64_t h = 0; h < jax.q_heads; ++h)
        for (std::int64_t i = 0; i < jax.q_len; ++i) {
          const auto row = static_cast<std::size_t>((b * jax.q_heads + h) * jax.q_len + i);
          CHECK(forward.lse[row] == doctest::Approx(jax.lse[row]).epsilon(1e-5));
          for (std::int64_t d = 0; d < jax.dim; ++d) {
            const float* o = view(jax.o, jax.q_len, jax.q_heads, jax.dim).row(b, h, i);
            const auto at = row * static_cast<std::size_t>(jax.dim) + static_cast<std::size_t>(d);
            CHECK(forward.o[at] == doctest::Approx(o[d]).epsilon(1e-5));
          }
        }
  }
}
