#include <cmath>
#include <fmt/format.h>

#include "ask.h"
#include "cases.h"
#include "directions.h"
#include "graders/kit/compare.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "tolerance.h"

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
    for (std::int64_t at = column; at < problem.k_rows() * form.dim; at += form.dim)
      problem.k[static_cast<std::size_t>(at)] = 1;
    attend(problem);
    const Answer got = ask(probe, problem);
    const Expected expected = expected_of(problem);
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

/// A sum and the sum of the absolute values of its terms.
struct LawSum {
  double value = 0;
  double size = 0;

  void add(double term) {
    value += term;
    size += std::abs(term);
  }
};

/// <a, b> over the rows of kv head `head` (or of the query heads of its group).
LawSum inner_product(const std::vector<float>& a, const std::vector<float>& b, std::int64_t head,
                     std::int64_t heads) {
  const std::size_t part = a.size() / static_cast<std::size_t>(heads);
  LawSum sum;
  for (std::size_t n = static_cast<std::size_t>(head) * part;
       n < static_cast<std::size_t>(head + 1) * part; ++n)
    sum.add(static_cast<double>(a[n]) * b[n]);
  return sum;
}

void require_equal_sums(Probe& probe, const LawSum& got, const LawSum& want,
                        const std::string& name) {
  const double allowed = kIdentity * (got.size + want.size);
  if (!kit::within(want.value, got.value, allowed))
    probe.fail(Miss{name, got.value, want.value, allowed, 1, 1});
  note_share(probe, std::abs(got.value - want.value) / allowed);
  probe.require(got.size > 0, "the gradients are all 0");
}

/// sum_j dv_j = sum_i dout_i of a group, column by column: the weights of a row add up to 1.
void require_weights_sum_to_one(Probe& probe, const Problem& problem, const Answer& got,
                                std::int64_t head, std::int64_t heads) {
  const std::int64_t columns = problem.form.value_dim;
  std::vector<LawSum> from(static_cast<std::size_t>(columns)), to(from);
  const auto add_all = [&](const std::vector<float>& array, std::vector<LawSum>& sums) {
    const std::int64_t part = static_cast<std::int64_t>(array.size()) / heads;
    for (std::int64_t n = head * part; n < (head + 1) * part; ++n)
      sums[static_cast<std::size_t>(n % columns)].add(array[static_cast<std::size_t>(n)]);
  };
  add_all(problem.dout, from);
  add_all(got.dv, to);
  for (std::int64_t c = 0; c < columns; ++c)
    require_equal_sums(probe, to[static_cast<std::size_t>(c)], from[static_cast<std::size_t>(c)],
                       fmt::format("sum of dv[..., {}] of kv head {}", c, head));
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
      require_equal_sums(probe, inner_product(got.dq, problem.q, head, heads),
                         inner_product(got.dk, problem.k, head, heads),
                         fmt::format("<dq, q> against <dk, k> of kv head {}", head));
      require_equal_sums(probe, inner_product(got.dv, problem.v, head, heads),
                         inner_product(problem.dout, problem.o, head, heads),
                         fmt::format("<dv, v> against <dout, o> of kv head {}", head));
      require_weights_sum_to_one(probe, problem, got, head, heads);
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
    for (float& v : problem.v) v = std::round(v * 256) / 256;
    attend(problem);
    const Expected unshifted = expected_of(problem);
    std::vector<float> shift(static_cast<std::size_t>(problem.form.value_dim));
    for (float& c : shift) c = static_cast<float>(std::round(rng.uniform(0.5, 1.0) * size));
    for (std::size_t n = 0; n < problem.v.size(); ++n) problem.v[n] += shift[n % shift.size()];
    attend(problem);
    require_close(probe, problem, ask(probe, problem),
                  {unshifted.value, expected_of(problem).bound});
  }
}

// The same for k: scores of a row move together, lse follows, and no gradient changes.
void key_shift(Probe& probe) {
  for (int n = 0; n < 2; ++n) {
    Rng rng = probe.begin_case(fmt::format("k shifted {}", n));
    Problem problem =
        random_problem(rng, drawn_sizes(rng, rng.integer(70, 140), rng.integer(70, 140)));
    problem.form.causal = rng.chance(0.5);
    for (float& k : problem.k) k = std::round(k * 1024) / 1024;
    attend(problem);
    const Expected unshifted = expected_of(problem);
    std::vector<float> shift(static_cast<std::size_t>(problem.form.dim));
    for (float& c : shift) c = static_cast<float>(rng.integer(-3, 3));
    for (std::size_t at = 0; at < problem.k.size(); ++at) problem.k[at] += shift[at % shift.size()];
    attend(problem);
    require_close(probe, problem, ask(probe, problem),
                  {unshifted.value, expected_of(problem).bound});
  }
}

// Every result is linear in dout. Tolerances are, too, so that a gradient a thousand times smaller
// must be right to as many digits; it is asked for on top of the larger one's results.
void linear_in_dout(Probe& probe) {
  Rng rng = probe.begin_case("dout of different sizes");
  Problem problem =
      random_problem(rng, drawn_sizes(rng, rng.integer(70, 150), rng.integer(70, 150)));
  problem.form.causal = rng.chance(0.5);
  attend(problem);
  const Answer once = require_right(probe, problem);
  Asking asking;
  asking.dirty = &once;
  for (const int exponent : {-20, -60, 40}) {  // of two
    Problem scaled = problem;
    for (float& dout : scaled.dout) dout = std::ldexp(dout, exponent);
    require_right(probe, scaled, asking);
  }

  probe.begin_case("dout is 0");
  for (float& dout : problem.dout) dout = 0;
  require_right(probe, problem);  // all bounds are 0

  probe.begin_case("dout is 0 in most rows");
  const std::int64_t kept = rng.integer(0, problem.form.q_len - 1);
  for (std::int64_t c = 0; c < problem.form.value_dim; ++c)
    problem.dout_row(0, 0, kept)[c] = static_cast<float>(rng.normal());
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
