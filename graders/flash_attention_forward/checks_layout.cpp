// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "harness/grading/grader.h"
#include "judge.h"
#include "large.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Sizes small_sizes(Rng& rng, bool square = false) {
  Sizes sizes{2, 4, 2};
  sizes.q_len = rng.integer(20, 70);
  sizes.k_len = square ? sizes.q_len : rng.integer(70, 130);
  sizes.dim = rng.integer(13, 40);
  sizes.value_dim = rng.integer(13, 40);
  return sizes;
}

/// [batch][row][head], cut out of a wider projection.
kit::Layout packed(Rng& rng, std::int64_t columns) {
  return {.rows_outside = true, .outer_gap = rng.integer(1, 2 * columns + 3)};
}

kit::Layout gapped(Rng& rng, std::int64_t) {
  return {.row_gap = rng.integer(1, 9),
          .outer_gap = rng.integer(0, 11),
          .batch_gap = rng.integer(0, 13)};
}

/// A layout of this kind for each tensor, drawn for itself.
CallOptions in_layouts(Rng& rng, const Sizes& sizes, kit::Layout (*drawn)(Rng&, std::int64_t)) {
  CallOptions options;
  options.q = drawn(rng, sizes.dim);
  options.k = drawn(rng, sizes.dim);
  options.v = drawn(rng, sizes.value_dim);
  options.o = drawn(rng, sizes.value_dim);
  return options;
}

/// Rows of which there is one for all heads and entries, and no other within their width.
kit::Layout apart(Rng& rng) {
  return {.row_gap = rng.integer(40, 80), .one_head = true, .one_batch = true};
}

/// Keys and values that several heads or batch entries share.
CallOptions in_shared(const kit::Layout& layout) {
  CallOptions options;
  options.k = options.v = layout;
  return options;
}

/// Inputs that are views of one array: at one place with strides of their own, or one the other,
/// values behind the keys of their rows, and rows that begin within others. Offsets are multiples
/// of `unit` elements.
constexpr const char* kOverlaps[] = {"all at one place", "one for all", "side by side", "sliding"};

void ask_overlapping(Probe& probe, std::string_view kind, std::int64_t unit,
                     const Placement& placement) {
  Rng rng = probe.begin_case("one array, " + std::string(kind));
  Sizes sizes = small_sizes(rng, kind == "one for all");
  if (kind == "one for all") sizes.value_dim = sizes.dim;
  const auto place = [&](std::int64_t offset, std::int64_t row) {
    return kit::OneMemory::Place{offset * unit, rng.integer(1, 999), rng.integer(1, 999), row};
  };
  const std::int64_t behind = (sizes.dim + unit - 1) / unit;
  const std::int64_t row = behind * unit + sizes.value_dim + rng.integer(0, 9);
  kit::OneMemory::Place q, k, v;
  q = k = v = place(0, row);
  if (kind == "all at one place") q = place(0, row + 5), v = place(0, 2 * row);
  if (kind == "side by side") v.offset = behind * unit;
  if (kind == "sliding") k = place(rng.integer(0, 3), rng.integer(1, 3)), v = place(3, 4);
  kit::OneMemory memory;
  memory.places = {{"q", q}, {"k", k}, {"v", v}};
  constexpr std::int64_t kNumbers = std::int64_t{1} << 15;  // and no view of these ends later
  for (std::int64_t n = 0; n < kNumbers; ++n)
    memory.numbers.push_back(static_cast<float>(rng.normal()));
  Problem problem(sizes);
  problem.form.scale *= 2;
  problem.q = memory.gathered(problem.q.extents, "q");
  problem.k = memory.gathered(problem.k.extents, "k");
  problem.v = memory.gathered(problem.v.extents, "v");
  CallOptions options;
  options.placement = placement;
  options.inputs = std::move(memory);
  require_right(probe, problem, options);
}

/// One stride of each tensor is no multiple of a vector's elements, and the others are.
void ask_one_odd_stride(Probe& probe, std::int64_t gap, const Placement& placement) {
  constexpr std::int64_t kWhole = 64;
  const Sizes sizes{3, 4, 2, kWhole, kWhole, 32, 32};
  for (const char* stride : {"rows", "heads", "batch entries"}) {
    Rng rng = probe.begin_case(fmt::format("{} elements between {} alone", gap, stride));
    const auto layout = [&](std::int64_t heads) {
      const std::string_view apart = stride;
      if (apart == "rows") return kit::Layout{.row_gap = gap};
      if (apart == "batch entries") return kit::Layout{.batch_gap = gap};
      return kit::Layout{.outer_gap = gap, .batch_gap = kWhole - heads * gap};
    };
    CallOptions options;
    options.q = options.o = layout(sizes.q_heads);
    options.k = options.v = layout(sizes.kv_heads);
    options.placement = placement;
    Problem problem(sizes);
    fill_sharp(problem, rng);
    require_right(probe, problem, options);
  }
}

void strides(Probe& probe) {
  for (const std::string_view kind :
       {"rows_first", "packed", "gapped", "packed_again", "shared_heads", "shared_batch",
        "all_of_one_batch", "parts_of_one_head", "gapped_again"}) {
    Rng rng = probe.begin_case(std::string(kind));
    const bool causal = rng.chance(0.5);
    const Sizes sizes = small_sizes(rng, causal);
    CallOptions options = kind == "rows_first"       ? in_layout(kRowsOutside)
                          : kind == "shared_heads"   ? in_shared({.one_head = true})
                          : kind.ends_with("batch")  ? in_shared({.one_batch = true})
                          : kind.ends_with("head")   ? in_shared(apart(rng))
                          : kind.starts_with("pack") ? in_layouts(rng, sizes, packed)
                                                     : in_layouts(rng, sizes, gapped);
    Problem problem(sizes);
    problem.form.causal = causal;
    fill_sharp(problem, rng);
    // Only the keys that exist tell entries apart: how many, or which.
    if (kind == "parts_of_one_head") {
      const auto later = static_cast<std::int32_t>(rng.integer(1, 19));
      problem.form.kv_start = {0, later};
      problem.form.kv_len.assign(2, static_cast<std::int32_t>(sizes.k_len) - later);
      options.threads = 1;  // the thread that has copied the first part has the second as well
    }
    if (kind == "all_of_one_batch") {
      options.q = options.k;
      problem.form.kv_len = {static_cast<std::int32_t>(rng.integer(1, sizes.k_len / 2)),
                             static_cast<std::int32_t>(sizes.k_len)};
    }
    kit::repeat_shared(problem.q, options.q);
    kit::repeat_shared(problem.k, options.k);
    kit::repeat_shared(problem.v, options.v);
    require_right(probe, problem, options);
  }
  for (const char* kind : kOverlaps) ask_overlapping(probe, kind, 16, {});
  ask_one_odd_stride(probe, 1, {});
  for (const char* array : {"q", "k", "v", "o"})
    ask_large(probe, {{std::string(array) + " layout", {"odd gaps", "rows outside"}},
                      {"kv heads", {"2"}}});
}

// Batch entries, heads or rows more than 2^31 or 2^32 elements, or bytes, behind each other. What
// lies between them is not there.
void far_parts(Probe& probe) {
  kit::ask_far_parts(probe, {"q", "k", "v", "o"},
                     [&](Rng& rng, const Sizes& sizes, const CallOptions::FarApart& far) {
                       Problem problem(sizes);
                       fill_sharp(problem, rng);
                       CallOptions options;
                       options.far = far;
                       require_right(probe, problem, options);
                     });
}

void unaligned_pointers(Probe& probe) {
  for (const std::size_t skew : {4, 8, 20, 36, 60}) {
    Rng rng = probe.begin_case(fmt::format("skew_{}", skew));
    Problem problem(small_sizes(rng));
    CallOptions options;
    if (rng.chance(0.5)) options = in_layout(gapped(rng, 0));
    options.placement = {64, skew};
    fill_sharp(problem, rng);
    require_right(probe, problem, options);
  }
  for (const char* kind : kOverlaps) ask_overlapping(probe, kind, 1, {64, 12});
  for (const std::int64_t gap : {2, 4, 8}) ask_one_odd_stride(probe, gap, {256, 0});
}

// NaN and infinity in keys that do not exist; the layout's gaps hold NaN as well.
void poisoned_memory(Probe& probe) {
  for (const float poison : {kit::kNan, kit::kInfinity, 3e38f})
    for (const bool causal : {false, true}) {
      Rng rng = probe.begin_case(fmt::format("{}{}", poison, causal ? "_causal" : ""));
      Sizes sizes = small_sizes(rng);
      sizes.batch = 3;
      const CallOptions options = in_layouts(rng, sizes, packed);
      Problem problem(sizes);
      problem.form.causal = causal;
      fill_sharp(problem, rng);
      const auto keys = static_cast<std::int32_t>(sizes.k_len);
      problem.form.kv_start = {0, static_cast<std::int32_t>(rng.integer(1, 40)), 3};
      problem.form.kv_len = {static_cast<std::int32_t>(rng.integer(1, keys - 1)),
                             keys - problem.form.kv_start[1], 0};
      for (kit::Tensor* tensor : {&problem.k, &problem.v})
        kit::for_each_missing_key(*tensor, problem.form,
                                  [&](std::span<float> row) { std::ranges::fill(row, poison); });
      require_right(probe, problem, options);
    }
}

}  // namespace

std::vector<Check> layout_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"strides", "memory taken for contiguous, writes between rows", robustness, 2, critical},
       strides},
      {{"far_parts", "offsets in 32 bits", robustness, 2, major}, far_parts},
      {{"unaligned_pointers", "vector accesses that need more alignment than is promised",
        robustness, 1, major},
       unaligned_pointers},
      {{"poisoned_memory", "NaN and infinity in keys that do not exist", robustness, 2, critical},
       poisoned_memory},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
