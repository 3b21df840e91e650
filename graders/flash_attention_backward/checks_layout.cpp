// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

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

/// Inputs that are views of one array: at one place with strides of their own, or one the other, or
/// beside each other in one row, or with rows that begin within others.
constexpr const char* kOverlaps[] = {"narrow values", "wide values", "one for all", "side by side",
                                     "sliding"};

/// Places of that kind for such sizes; offsets are multiples of `unit` elements.
kit::OneMemory overlapping(Rng& rng, std::string_view kind, const Sizes& sizes, std::int64_t unit) {
  const auto place = [&](std::int64_t offset, std::int64_t row) {
    return kit::OneMemory::Place{offset * unit, rng.integer(1, 999), rng.integer(1, 999), row};
  };
  const std::int64_t behind = (std::max(sizes.dim, sizes.value_dim) + unit - 1) / unit;
  const std::int64_t row = 4 * behind * unit + rng.integer(0, 9);
  kit::OneMemory::Place q, k, v, o, dout;
  q = k = v = o = dout = place(0, row);
  if (kind.ends_with("values")) {
    q = place(0, row + 5), v = place(0, row / 2);
    o = place(0, 3 * row / 2), dout = place(0, row + 2);
  }
  if (kind == "side by side") {
    v.offset = behind * unit;
    dout.offset = 2 * behind * unit;
    o.offset = 3 * behind * unit;
  }
  if (kind == "sliding") {
    k = place(rng.integer(0, 3), rng.integer(1, 3)), v = place(3, 4);
    o = place(rng.integer(0, 3), rng.integer(1, 3)), dout = place(1, 5);
  }
  kit::OneMemory memory;
  memory.places = {{"q", q}, {"k", k}, {"v", v}, {"o", o}, {"dout", dout}};
  constexpr std::int64_t kNumbers = std::int64_t{1} << 15;  // and no view of these ends later
  for (std::int64_t n = 0; n < kNumbers; ++n)
    memory.numbers.push_back(static_cast<float>(rng.normal()));
  return memory;
}

void ask_overlapping(Probe& probe, std::string_view kind, std::int64_t unit,
                     const Placement& placement) {
  Rng rng = probe.begin_case("one array, " + std::string(kind));
  Sizes sizes{2, 4, 2, rng.integer(20, 40), rng.integer(66, 90)};
  sizes.dim = rng.integer(18, 24);
  sizes.value_dim = rng.integer(13, 17);
  if (kind == "wide values") std::swap(sizes.dim, sizes.value_dim);
  if (kind == "one for all") sizes.k_len = sizes.q_len, sizes.value_dim = sizes.dim;
  kit::OneMemory memory = overlapping(rng, kind, sizes, unit);
  Problem problem(sizes);
  problem.q = memory.gathered(problem.q.extents, "q");
  problem.k = memory.gathered(problem.k.extents, "k");
  problem.v = memory.gathered(problem.v.extents, "v");
  problem.dout = memory.gathered(problem.dout.extents, "dout");
  attend(problem);
  problem.o = memory.gathered(problem.o.extents, "o");
  CallOptions options;
  options.placement = placement;
  options.want_delta = true;
  options.inputs = std::move(memory);
  require_right(probe, problem, options);
}

/// All rows of the first head, or of the first batch entry, begin at multiples of 64 bytes, as the
/// arrays do; those of the next do not.
void ask_first_aligned(Probe& probe, bool batches) {
  Rng rng = probe.begin_case(batches ? "the first batch entry aligned" : "the first head aligned");
  Sizes sizes{2, 4, 2, rng.integer(30, 50), rng.integer(66, 90)};
  sizes.dim = 16 * rng.integer(1, 3);
  sizes.value_dim = 16 * rng.integer(1, 3);
  const Problem problem = attended_problem(rng, sizes);
  CallOptions options;
  for (kit::Layout* layout : {&options.q, &options.k, &options.v, &options.o, &options.dout,
                              &options.dq, &options.dk, &options.dv}) {
    (batches ? layout->batch_gap : layout->outer_gap) = 2 * rng.integer(0, 7) + 1;
    if (rng.chance(0.5)) layout->row_gap = 16;
  }
  require_right(probe, problem, options);
}

// Every tensor in an order of its own, with NaN between the rows; what lies between the rows of
// results must survive. The last row ends where memory ends. The same sizes came before, dense.
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
    require_right(probe, problem);
    require_right(probe, problem, options);
  }
  for (const bool batches : {false, true}) ask_first_aligned(probe, batches);
  for (const char* kind : kOverlaps) ask_overlapping(probe, kind, 16, {});
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

  // Of the same queries in each head, each head has an lse and an o of its own.
  rng = probe.begin_case("queries shared, statistics not");
  sizes.q_heads = sizes.kv_heads * rng.integer(2, 3);
  Problem queries = random_problem(rng, sizes);
  CallOptions shared;
  shared.q.one_head = true;
  kit::repeat_shared(queries.q, shared.q);
  attend(queries);
  for (float& lse : queries.lse) lse += static_cast<float>(rng.uniform(-1.5, 3));
  for (float& o : queries.o.data) o = static_cast<float>(rng.normal());
  require_right(probe, queries, shared);
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
  for (const bool batches : {false, true}) ask_first_aligned(probe, batches);
  for (const char* kind : kOverlaps) ask_overlapping(probe, kind, 1, {64, 12});
}

// Results start as the right answer of another question, of which some inputs are nearly the same:
// adding to them, leaving some out, or looking at the ends of an input only, shows.
void dirty_outputs(Probe& probe) {
  for (const bool gaps : {false, true}) {
    Rng rng = probe.begin_case(gaps ? "another answer, with gaps" : "another answer");
    Problem problem =
        attended_problem(rng, drawn_sizes(rng, rng.integer(66, 140), rng.integer(66, 140)));
    const Answer before = require_right(probe, problem);
    for (float& dout : problem.dout.data) dout = static_cast<float>(rng.normal());
    change_some(problem, rng);
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
