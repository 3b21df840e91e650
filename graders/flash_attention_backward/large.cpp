#include "large.h"

#include <cmath>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr double kSpread = 1.5;      // standard deviation of most queries' scores
constexpr std::int64_t kSharp = 16;  // one query in so many is sharp:
constexpr double kSharpSpread = 18;  // this is the standard deviation of its scores

void fill_evenly(std::vector<float>& array, std::int64_t count, Rng& rng, double deviation) {
  array.resize(static_cast<std::size_t>(count));
  kit::fill_uniform(rng, array, 0, deviation);
}

/// What a forward pass over at least these keys may have left. Of sharp queries it may have seen a
/// key above all that are here; no score exceeds lse by more than 20.
double likely_lse(bool sharp, std::int64_t keys) {
  if (sharp) return 5 * kSharpSpread;
  return std::log(static_cast<double>(keys)) + kSpread * kSpread / 2;
}

}  // namespace

Problem hollow_problem(const Sizes& sizes) {
  Problem problem;
  kit::AttentionProblem& form = problem.form;
  form.batch = sizes.batch;
  form.q_heads = sizes.q_heads;
  form.kv_heads = sizes.kv_heads;
  form.q_len = sizes.q_len;
  form.k_len = sizes.k_len;
  form.dim = sizes.dim;
  form.value_dim = sizes.value_dim;
  form.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(sizes.dim)));
  return problem;
}

void fill_quickly(Problem& problem, Rng& rng) {
  const kit::AttentionProblem& form = problem.form;
  fill_evenly(problem.q, problem.q_rows() * form.dim, rng, kSpread);
  fill_evenly(problem.k, problem.k_rows() * form.dim, rng, 1);
  fill_evenly(problem.v, problem.k_rows() * form.value_dim, rng, 1);
  fill_evenly(problem.dout, problem.q_rows() * form.value_dim, rng, 1);
  fill_evenly(problem.o, problem.q_rows() * form.value_dim, rng, 0.2);
  problem.lse.clear();
  for (std::int64_t row = 0; row < problem.q_rows(); ++row) {
    const bool sharp = row % kSharp == 0;
    if (sharp)
      for (std::int64_t c = 0; c < form.dim; ++c)
        problem.q[static_cast<std::size_t>(row * form.dim + c)] *=
            static_cast<float>(kSharpSpread / kSpread);
    const auto keys = form.visible_keys(row / form.q_len / form.q_heads, row % form.q_len);
    problem.lse.push_back(static_cast<float>(likely_lse(sharp, keys.size()) + rng.uniform(0, 0.5)));
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
