#include <algorithm>
#include <fmt/format.h>

#include "ask.h"
#include "cases.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Problem attended(Rng& rng, const Sizes& sizes) {
  Problem problem = random_problem(rng, sizes);
  problem.form.causal = rng.chance(0.5);
  attend(problem);
  return problem;
}

Layout drawn_layout(Rng& rng) {
  Layout layout;
  layout.rows_outside = rng.chance(0.5);
  layout.row_gap = kit::one_of<std::int64_t>(rng, {0, 1, 3, 16, 129});
  layout.head_gap = layout.rows_outside ? 0 : rng.integer(0, 40);
  return layout;
}

// Every tensor in an order of its own, with NaN between the rows; what lies between the rows of
// results must survive. The last row ends where memory ends.
void strides(Probe& probe) {
  for (int n = 0; n < 4; ++n) {
    Rng rng = probe.begin_case(fmt::format("layouts {}", n));
    // Every other number of keys is odd.
    Sizes sizes = drawn_sizes(rng, rng.integer(30, 90), rng.integer(30, 90) | n % 2);
    if (n == 2) sizes.dim = 13, sizes.value_dim = 21;
    if (n == 3) sizes.dim = sizes.value_dim = 144;
    Problem problem = attended(rng, sizes);
    problem.dlse.assign(problem.lse.size(), 0.25f);
    Asking asking;
    for (Layout* layout : {&asking.q, &asking.k, &asking.v, &asking.o, &asking.dout, &asking.dq,
                           &asking.dk, &asking.dv})
      *layout = drawn_layout(rng);
    // In the first case every other row of these begins at an odd place.
    if (n == 0) {
      asking.q.row_gap = asking.k.row_gap = asking.dq.row_gap = 1 + sizes.dim % 2;
      asking.v.row_gap = asking.dout.row_gap = asking.dv.row_gap = 1 + sizes.value_dim % 2;
    }
    require_right(probe, problem, asking);
  }
}

/// Makes all heads (or batch entries) of a dense tensor equal to the first.
void repeat_first(std::vector<float>& array, std::int64_t copies, std::int64_t outer) {
  const auto part = static_cast<std::int64_t>(array.size()) / (copies * outer);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t copy = 1; copy < copies; ++copy)
      std::copy_n(array.begin() + o * copies * part, part,
                  array.begin() + (o * copies + copy) * part);
}

// Inputs that several heads or batch entries share, by a stride of 0.
void shared_rows(Probe& probe) {
  Rng rng = probe.begin_case("stride 0");
  Sizes sizes;
  sizes.batch = rng.integer(2, 3);
  sizes.kv_heads = rng.integer(2, 3);
  sizes.q_heads = sizes.kv_heads * rng.integer(1, 2);
  sizes.q_len = rng.integer(30, 90);
  sizes.k_len = rng.integer(30, 90);
  sizes.dim = 32;
  sizes.value_dim = 48;
  Problem problem = random_problem(rng, sizes);
  repeat_first(problem.k, sizes.kv_heads, sizes.batch);
  repeat_first(problem.v, sizes.batch, 1);
  repeat_first(problem.dout, sizes.batch, 1);
  attend(problem);
  Asking asking;
  asking.k.one_head = true;
  asking.v.one_batch = true;
  asking.dout.one_batch = true;
  require_right(probe, problem, asking);
}

// Tensors that start right after a cache line, or anywhere an element may start.
void alignment(Probe& probe) {
  for (const std::size_t skew : {4, 8, 16}) {
    Rng rng = probe.begin_case(fmt::format("{} bytes off", skew));
    const Problem problem =
        attended(rng, drawn_sizes(rng, rng.integer(30, 90), rng.integer(30, 90)));
    Asking asking;
    asking.placement.skew = skew;
    require_right(probe, problem, asking);
  }
}

// Results start as the right answer of another question: adding to them, or leaving some out,
// shows.
void dirty_outputs(Probe& probe) {
  for (const bool gaps : {false, true}) {
    Rng rng = probe.begin_case(gaps ? "another answer, with gaps" : "another answer");
    Problem problem = attended(rng, drawn_sizes(rng, rng.integer(66, 140), rng.integer(66, 140)));
    const Answer before = require_right(probe, problem);
    for (float& dout : problem.dout) dout = static_cast<float>(rng.normal());
    Asking asking;
    asking.dirty = &before;
    if (gaps) asking.dq.row_gap = asking.dk.row_gap = asking.dv.row_gap = 5;
    require_right(probe, problem, asking);
  }
}

void empty_problems(Probe& probe) {
  struct Case {
    const char* name;
    std::int64_t batch, q_len, k_len;
  };
  for (const Case& made :
       {Case{"no queries", 2, 0, 70}, Case{"no keys", 2, 70, 0}, Case{"no batch", 0, 9, 9},
        Case{"nothing at all", 1, 0, 0}, Case{"one by one", 1, 1, 1}}) {
    Rng rng = probe.begin_case(made.name);
    Sizes sizes = drawn_sizes(rng, made.q_len, made.k_len);
    sizes.batch = made.batch;
    Problem problem = random_problem(rng, sizes);
    problem.form.causal = rng.chance(0.5);
    attend(problem);
    require_right(probe, problem);
  }
}

}  // namespace

std::vector<Check> layout_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"strides", "dense memory taken for granted, NaN between rows, writes between rows",
        robustness, 3, critical},
       strides},
      {{"dirty_outputs", "results added to what was there", robustness, 2, critical},
       dirty_outputs},
      {{"shared_rows", "strides of 0", robustness, 1, major}, shared_rows},
      {{"alignment", "vector loads from places that are not aligned", robustness, 1, major},
       alignment},
      {{"empty_problems", "no queries, no keys, no batch", robustness, 1, major}, empty_problems},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
