// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/inputs.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// All scores far below zero: a key that fills up a tile with zeros would outweigh every real one.
void make_scores_negative(Problem& problem) {
  for (float& q : problem.q.data) q = std::abs(q) + 0.5f;
  for (float& k : problem.k.data) k = -std::abs(k) - 0.5f;
}

// Scores three and five times as sharp, also far below zero, and the rest of a tile left over.
void short_sequences(Probe& probe) {
  for (const std::int64_t k_len : {1, 2, 5, 17, 127}) {
    Rng rng = probe.begin_case(fmt::format("{} keys", k_len));
    std::int64_t keys = k_len + rng.integer(0, 2);
    for (const bool negative : {false, true}) {
      // An even number of keys and an odd one.
      Sizes sizes = drawn_sizes(rng, kit::one_of<std::int64_t>(rng, {1, 2, 17, 76, 110}), keys++);
      if (negative) sizes.dim = 64;
      Problem problem =
          random_problem(rng, sizes, negative ? 20 : kit::one_of(rng, {3.0, 9.0, 15.0}));
      problem.form.causal = rng.chance(0.3);
      if (negative) make_scores_negative(problem);
      attend(problem);
      require_right(probe, problem);
    }
  }
}

// Once as far below as 1e5, and as far apart as 5e4.
void negative_scores(Probe& probe) {
  for (int n = 0; n < 3; ++n) {
    Rng rng = probe.begin_case(fmt::format("lse below -100 {}", n));
    Sizes sizes = drawn_sizes(rng, rng.integer(70, 140), rng.integer(129, 159));
    sizes.dim = 64;
    Problem problem = random_problem(rng, sizes, n == 2 ? 12'000 : 20);
    problem.form.causal = n == 1;
    make_scores_negative(problem);
    attend(problem);
    require_right(probe, problem);
  }
}

/// Multiplies each number by its column's and by one plus `distance` times what it was.
void approach(kit::Tensor& tensor, const std::vector<float>& columns, float distance) {
  for (std::size_t n = 0; n < tensor.data.size(); ++n)
    tensor.data[n] = columns[n % columns.size()] * (1 + distance * tensor.data[n]);
}

std::vector<float> drawn_columns(Rng& rng, const Problem& problem) {
  std::vector<float> common(static_cast<std::size_t>(problem.form.value_dim));
  for (float& c : common) c = static_cast<float>(rng.uniform(1, 3));
  return common;
}

/// Every sum of the formulas is representable, and parts of them in another order are not: a weight
/// near e^19.5 times dP, which is nearly delta; and the difference of a v and an o, each of them
/// beyond half of what floats hold.
void require_parts_beyond_floats(Probe& probe) {
  constexpr float kValues = 1e21f, kDout = 1e8f, kLower = 19.5f, kSmallDout = 1e-12f;
  Rng rng = probe.begin_case("a weight times dP is beyond floats");
  Problem weights = attended_problem(rng, 20, 66);
  const std::vector<float> common = drawn_columns(rng, weights);
  approach(weights.v, common, 1e-4f);
  approach(weights.dout, common, 0.1f);
  for (float& v : weights.v.data) v *= kValues;
  for (float& dout : weights.dout.data) dout *= kDout;
  attend(weights);
  for (float& lse : weights.lse) lse -= kLower;
  require_right(probe, weights);

  rng = probe.begin_case("v less o is beyond floats");
  Problem values = attended_problem(rng, 20, 66);
  for (kit::Tensor* tensor : {&values.v, &values.o})
    for (float& number : tensor->data)
      number = static_cast<float>((rng.chance(0.5) ? 1 : -1) * rng.uniform(1.8e38, 3e38));
  for (float& dout : values.dout.data) dout *= kSmallDout;
  require_right(probe, values);
}

// Heads and rows of very different size: an error is measured against its own element, so that one
// in a small head cannot hide behind a large one. Of some rows, the squared length is 0 in float32,
// and of some, 1 by the largest element is infinite.
void head_magnitudes(Probe& probe) {
  for (int n = 0; n < 2; ++n) {
    Rng rng = probe.begin_case(fmt::format("large and small {}", n));
    Sizes sizes = drawn_sizes(rng, rng.integer(90, 150), rng.integer(90, 150));
    sizes.q_heads = 4;
    sizes.kv_heads = n == 0 ? 4 : 2;
    Problem problem = random_problem(rng, sizes);
    kit::for_each_row(problem.dout, [&](std::span<float> dout, auto b, auto h, auto i) {
      const double size = rng.chance(0.1) ? kit::one_of(rng, {1e-25, 1e-40})
                                          : std::pow(10.0, static_cast<double>(rng.integer(-8, 4)));
      for (float& number : dout) number *= static_cast<float>(size);
      if (!rng.chance(0.2)) return;  // and scores from nearly equal to very sharp
      for (std::int64_t c = 0; c < sizes.dim; ++c)
        problem.q.row(b, h, i)[c] *= static_cast<float>(std::min(size, 10.0));
    });
    kit::for_each_row(problem.v, [&](std::span<float> v, auto b, auto h, auto j) {
      const double size = rng.chance(0.1) ? 1e-40 : std::pow(10.0, 2.0 * (double(h) - 1));
      for (float& number : v) number *= static_cast<float>(size);
      if (!rng.chance(0.1)) return;
      for (std::int64_t c = 0; c < sizes.dim; ++c) problem.k.row(b, h, j)[c] *= 1e-40f;
    });
    problem.form.causal = rng.chance(0.5);
    attend(problem);
    require_right(probe, problem);
  }
  require_parts_beyond_floats(probe);
}

// Many keys of nearly equal weight: sums of thousands of small terms.
void long_uniform(Probe& probe) {
  Rng rng = probe.begin_case("long and nearly uniform");
  Sizes sizes;
  const std::int64_t length = rng.integer(2000, 2400);
  const bool many_keys = rng.chance(0.5);
  sizes.q_len = many_keys ? 150 : length;
  sizes.k_len = many_keys ? length : 150;
  sizes.dim = 8;
  sizes.value_dim = 8;
  Problem problem = random_problem(rng, sizes, 0.05);
  for (float& dout : problem.dout.data)
    dout = 1 + 0.1f * dout;  // so that rounding cannot average out
  for (float& v : problem.v.data) v = 1 + 0.5f * v;
  attend(problem);
  require_right(probe, problem);
}

// dout parallel to a v that hardly varies: dP and delta are large and nearly equal.
void delta_cancellation(Probe& probe) {
  Rng rng = probe.begin_case("dP is nearly delta");
  Problem problem = attended_problem(rng, 70, 90);
  const std::vector<float> common = drawn_columns(rng, problem);
  approach(problem.v, common, 0.01f);
  approach(problem.dout, common, 0.1f);
  attend(problem);
  require_right(probe, problem);
  require_parts_beyond_floats(probe);
}

}  // namespace

std::vector<Check> magnitudes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"short_sequences", "the unmasked rest of a tile", correctness, 2, critical},
       short_sequences},
      {{"negative_scores", "keys that only fill up a tile, with a score of 0 above all real ones",
        correctness, 1, major},
       negative_scores},
      {{"head_magnitudes", "errors that hide behind larger heads or rows", correctness, 2,
        critical},
       head_magnitudes},
      {{"long_uniform", "sums of thousands of small terms in low precision", correctness, 1, major},
       long_uniform},
      {{"delta_cancellation", "low precision where dP is nearly delta", correctness, 1, major},
       delta_cancellation},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
