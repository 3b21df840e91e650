// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>

#include "directions.h"
#include "graders/kit/compare.h"
#include "graders/kit/inputs.h"
#include "graders/kit/tolerance.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// When column c of k is all ones, dq[:, c] is scale times the row sums of dx, and these vanish:
// delta is the weighted mean of dP. Whoever drops delta, or takes it over one tile, is seen here
// and only here: inner products hold for any delta.
void constant_column(Probe& probe) {
  for (int n = 0; n < 3; ++n) {
    Rng rng = probe.begin_case(fmt::format("ones in a column {}", n));
    Problem problem =
        random_problem(rng, drawn_sizes(rng, rng.integer(70, 160), rng.integer(140, 230)));
    kit::AttentionProblem& form = problem.form;
    form.causal = n == 1;
    if (n == 2) form.window_left = rng.integer(70, 100);
    const std::int64_t column = rng.integer(0, form.dim - 1);
    kit::for_each_row(problem.k, [&](std::span<float> row, auto, auto, auto) {
      row[static_cast<std::size_t>(column)] = 1;
    });
    attend(problem);
    const Answer got = ask(probe, problem);
    const Expected expected = expect(problem);
    std::vector<float> sums;
    std::vector<double> bounds;
    double rest = 0;
    for (std::size_t at = 0; at < got.dq.size(); ++at) {
      if (static_cast<std::int64_t>(at) % form.dim != column) {
        rest += std::abs(got.dq[at]);
        continue;
      }
      sums.push_back(got.dq[at]);
      bounds.push_back(expected.bound.dq[at]);
    }
    probe.require(kit::worst_miss(sums, std::vector<double>(sums.size(), 0.0), allowed_for(bounds),
                                  kit::index_namer(fmt::format("dq[..., {}]", column),
                                                   {form.batch, form.q_heads, form.q_len})));
    probe.require(rest > 0, "dq is 0 in all other columns as well");
  }
}

/// The rows of kv head `head`, or of the query heads of its group.
std::span<const float> part_of(const std::vector<float>& array, std::int64_t head,
                               std::int64_t heads) {
  const std::size_t part = array.size() / static_cast<std::size_t>(heads);
  return std::span(array).subspan(static_cast<std::size_t>(head) * part, part);
}

void require_equal_sums(Probe& probe, const std::string& name, const Sum& got, const Sum& want) {
  probe.require(unequal_sums(name, got, want));
  kit::note_share(probe, std::abs(got.value - want.value) / (kIdentity * (got.size + want.size)));
  probe.require(got.size > 0, "the gradients are all 0");
}

/// sum_j dv_j = sum_i dout_i of a group, column by column: the weights of a row add up to 1.
void require_weights_sum_to_one(Probe& probe, std::span<const float> dv,
                                std::span<const float> dout, std::size_t columns,
                                std::int64_t head) {
  for (std::size_t c = 0; c < columns; ++c) {
    Sum got, want;
    for (std::size_t n = c; n < dv.size(); n += columns) got.add(dv[n]);
    for (std::size_t n = c; n < dout.size(); n += columns) want.add(dout[n]);
    require_equal_sums(probe, fmt::format("sum of dv[..., {}] of kv head {}", c, head), got, want);
  }
}

// Laws that need no reference, so that they reach larger sizes: dq and dk see the same dx, dv and o
// the same P.
void inner_products(Probe& probe) {
  for (const bool causal : {false, true}) {
    Rng rng = probe.begin_case(causal ? "causal" : "full");
    Sizes sizes;
    sizes.kv_heads = 2;
    sizes.q_heads = 4;
    sizes.q_len = rng.integer(250, 350);
    sizes.k_len = sizes.q_len + rng.integer(0, 90);
    sizes.dim = kit::one_of<std::int64_t>(rng, {32, 48, 64});
    sizes.value_dim = sizes.dim;
    Problem problem = random_problem(rng, sizes, 1.5);
    problem.form.causal = causal;
    attend(problem);
    const Answer got = ask(probe, problem);
    const std::int64_t heads = sizes.batch * sizes.kv_heads;
    for (std::int64_t head = 0; head < heads; ++head) {
      const auto part = [&](const std::vector<float>& array) {
        return part_of(array, head, heads);
      };
      require_equal_sums(probe, fmt::format("<dq, q> against <dk, k> of kv head {}", head),
                         inner_product(part(got.dq), part(problem.q.data)),
                         inner_product(part(got.dk), part(problem.k.data)));
      require_equal_sums(probe, fmt::format("<dv, v> against <dout, o> of kv head {}", head),
                         inner_product(part(got.dv), part(problem.v.data)),
                         inner_product(part(problem.dout.data), part(problem.o.data)));
      require_weights_sum_to_one(probe, part(got.dv), part(problem.dout.data),
                                 static_cast<std::size_t>(sizes.value_dim), head);
    }
  }
}

// Independent of every formula of the backward pass: the slope of the loss along random directions,
// from four float64 forward passes for all heads at once.
void directional_derivatives(Probe& probe) {
  for (int n = 0; n < 3; ++n) {
    Rng rng = probe.begin_case(fmt::format("random directions {}", n));
    Problem problem =
        random_problem(rng, drawn_sizes(rng, rng.integer(20, 60), rng.integer(66, 90)), 2);
    problem.form.causal = n == 1;
    if (n == 2) problem.form.softcap = 8;
    if (rng.chance(0.5))
      for (std::int64_t row = 0; row < problem.q_rows(); ++row)
        problem.dlse.push_back(static_cast<float>(rng.normal()));
    attend(problem);
    const Answer got = ask(probe, problem);
    for (const Moved moved : {Moved::q, Moved::k, Moved::v})
      probe.require(slope_miss(problem, rng, moved, got));
  }
}

// Adding a constant row to v changes o by it and no gradient. The numbers lie on a grid, so that
// adding is exact; the tolerance knows how large v has become.
void value_shift(Probe& probe) {
  for (const float size : {10.0f, 1000.0f}) {
    Rng rng = probe.begin_case(fmt::format("v shifted by {}", size));
    Problem problem =
        random_problem(rng, drawn_sizes(rng, rng.integer(70, 140), rng.integer(70, 140)));
    problem.form.causal = rng.chance(0.5);
    for (float& v : problem.v.data) v = std::round(v * 256) / 256;
    attend(problem);
    const Expected unshifted = expect(problem);
    std::vector<float> shift(static_cast<std::size_t>(problem.form.value_dim));
    for (float& c : shift) c = static_cast<float>(std::round(rng.uniform(0.5, 1.0) * size));
    for (std::size_t n = 0; n < problem.v.data.size(); ++n)
      problem.v.data[n] += shift[n % shift.size()];
    attend(problem);
    require_close(probe, problem, ask(probe, problem), {unshifted.value, expect(problem).bound});
  }
}

// The same for k: scores of a row move together, lse follows, and no gradient changes.
void key_shift(Probe& probe) {
  for (int n = 0; n < 2; ++n) {
    Rng rng = probe.begin_case(fmt::format("k shifted {}", n));
    Problem problem =
        random_problem(rng, drawn_sizes(rng, rng.integer(70, 140), rng.integer(70, 140)));
    problem.form.causal = rng.chance(0.5);
    for (float& k : problem.k.data) k = std::round(k * 1024) / 1024;
    attend(problem);
    const Expected unshifted = expect(problem);
    std::vector<float> shift(static_cast<std::size_t>(problem.form.dim));
    for (float& c : shift) c = static_cast<float>(rng.integer(-3, 3));
    for (std::size_t n = 0; n < problem.k.data.size(); ++n)
      problem.k.data[n] += shift[n % shift.size()];
    attend(problem);
    require_close(probe, problem, ask(probe, problem), with_bounds_of(unshifted, expect(problem)));
  }
}

// Every result is linear in dout. Tolerances are, too, so that a gradient a thousand times smaller
// must be right to as many digits; it is asked for on top of the larger one's results. So must one
// whose square, and that of a whole row, is 0 in float32.
void linear_in_dout(Probe& probe) {
  Rng rng = probe.begin_case("dout of different sizes");
  Problem problem =
      attended_problem(rng, drawn_sizes(rng, rng.integer(70, 150), rng.integer(70, 150)));
  const Answer once = require_right(probe, problem);
  CallOptions options;
  options.dirty = &once;
  for (const int exponent : {-20, -84, 40}) {  // of two
    Problem scaled = problem;
    for (float& dout : scaled.dout.data) dout = std::ldexp(dout, exponent);
    require_right(probe, scaled, options);
  }

  probe.begin_case("dout is 0");
  for (float& dout : problem.dout.data) dout = 0;
  require_right(probe, problem);  // all bounds are 0

  probe.begin_case("dout is 0 in most rows");
  const std::int64_t kept = rng.integer(0, problem.form.q_len - 1);
  for (std::int64_t c = 0; c < problem.form.value_dim; ++c)
    problem.dout.row(0, 0, kept)[c] = static_cast<float>(rng.normal());
  require_right(probe, problem);
}

}  // namespace

std::vector<Check> laws_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"constant_column", "delta dropped, or taken over one tile", correctness, 3, critical},
       constant_column},
      {{"inner_products", "dq and dk from different scores, dv from others than o", correctness, 2,
        critical},
       inner_products},
      {{"linear_in_dout",
        "anything that depends on the size of dout: constants, thresholds, saturation", correctness,
        1, critical},
       linear_in_dout},
      {{"directional_derivatives", "a wrong derivative, whatever the formula", correctness, 1,
        major},
       directional_derivatives},
      {{"value_shift", "delta that loses the common part of v", correctness, 1, major},
       value_shift},
      {{"key_shift", "row sums of dS that do not vanish", correctness, 1, major}, key_shift},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
