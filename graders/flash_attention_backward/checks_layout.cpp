// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graders/kit/inputs.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

kit::Layout drawn_layout(Rng& rng) {
  kit::Layout layout;
  layout.rows_outside = rng.chance(0.5);
  layout.row_gap = kit::one_of<std::int64_t>(rng, {0, 1, 3, 16, 129});
  layout.outer_gap = layout.rows_outside ? 0 : rng.integer(0, 40);
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
    Problem problem = attended_problem(rng, sizes);
    problem.dlse.assign(problem.lse.size(), 0.25f);
    CallOptions options;
    for (kit::Layout* layout : {&options.q, &options.k, &options.v, &options.o, &options.dout,
                                &options.dq, &options.dk, &options.dv})
      *layout = drawn_layout(rng);
    // In the first case every other row of these begins at an odd place.
    if (n == 0) {
      options.q.row_gap = options.k.row_gap = options.dq.row_gap = 1 + sizes.dim % 2;
      options.v.row_gap = options.dout.row_gap = options.dv.row_gap = 1 + sizes.value_dim % 2;
    }
    require_right(probe, problem, options);
  }
}

// Batch entries, heads or rows more than 2^31 or 2^32 elements, or bytes, behind each other. What
// lies between them is not there.
void far_parts(Probe& probe) {
  kit::ask_far_parts(probe, {"q", "k", "v", "o", "dout", "dq", "dk", "dv"},
                     [&](Rng& rng, const Sizes& sizes, const CallOptions::FarApart& far) {
                       CallOptions options;
                       options.far = far;
                       require_right(probe, attended_problem(rng, sizes), options);
                     });
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
  CallOptions options;
  options.k.one_head = true;
  options.v.one_batch = true;
  options.dout.one_batch = true;
  kit::repeat_shared(problem.k, options.k);
  kit::repeat_shared(problem.v, options.v);
  kit::repeat_shared(problem.dout, options.dout);
  attend(problem);
  require_right(probe, problem, options);
}

// Tensors that start right after a cache line, or anywhere an element may start.
void unaligned_pointers(Probe& probe) {
  for (const std::size_t skew : {4, 8, 16}) {
    Rng rng = probe.begin_case(fmt::format("{} bytes off", skew));
    const Problem problem =
        attended_problem(rng, drawn_sizes(rng, rng.integer(30, 90), rng.integer(30, 90)));
    CallOptions options;
    options.placement.skew = skew;
    require_right(probe, problem, options);
  }
}

// Results start as the right answer of another question: adding to them, or leaving some out,
// shows.
void dirty_outputs(Probe& probe) {
  for (const bool gaps : {false, true}) {
    Rng rng = probe.begin_case(gaps ? "another answer, with gaps" : "another answer");
    Problem problem =
        attended_problem(rng, drawn_sizes(rng, rng.integer(66, 140), rng.integer(66, 140)));
    const Answer before = require_right(probe, problem);
    for (float& dout : problem.dout.data) dout = static_cast<float>(rng.normal());
    CallOptions options;
    options.dirty = &before;
    if (gaps) options.dq.row_gap = options.dk.row_gap = options.dv.row_gap = 5;
    require_right(probe, problem, options);
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
      {{"far_parts", "offsets in 32 bits", robustness, 2, major}, far_parts},
      {{"unaligned_pointers", "vector loads from places that are not aligned", robustness, 1,
        major},
       unaligned_pointers},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
