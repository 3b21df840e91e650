// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "graders/kit/attention_domain.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "lap.h"
#include "large.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A fault at one head size among 256, of keys or of values.
void ask_consecutive_columns(Probe& probe) {
  constexpr std::int64_t kMost = 256;
  for (std::int64_t dim = 1; dim <= kMost; ++dim) {
    Rng rng = probe.begin_case(fmt::format("{} columns", dim));
    Problem problem({1, 1, 1, 1, 3, dim, kMost + 1 - dim});
    fill_sharp(problem, rng);
    require_right(probe, problem);
  }
}

void head_dims(Probe& probe) {
  constexpr std::pair<int, int> kDims[] = {
      {1, 1},     {2, 3},     {16, 16},   {32, 32},   {40, 40},   {59, 59},   {64, 64},
      {80, 80},   {96, 96},   {111, 111}, {128, 128}, {160, 160}, {192, 192}, {224, 224},
      {256, 256}, {192, 128}, {64, 256},  {17, 5},    {5, 31},    {256, 1}};
  for (const auto& [dim, value_dim] : kDims) {
    Rng rng = probe.begin_case(fmt::format("dim_{}_{}", dim, value_dim));
    const bool causal = dim % 8 == 0;
    const std::int64_t keys = rng.integer(40, 110);
    Problem problem({1, 1, 1, causal ? keys : rng.integer(5, 40), keys, dim, value_dim});
    if (dim % 3 == 0) change_scale(problem, rng);
    problem.form.causal = causal;
    if (dim % 5 == 0) problem.form.softcap = static_cast<float>(rng.uniform(2, 6));
    fill_sharp(problem, rng);
    require_right(probe, problem);
  }
  ask_consecutive_columns(probe);
}

constexpr std::int64_t kLargestGroup = 128;

void grouped_heads(Probe& probe) {
  constexpr std::pair<int, int> kHeads[] = {{8, 1},  {8, 2}, {6, 3}, {7, 7},
                                            {12, 4}, {5, 1}, {6, 2}, {8, 2}};
  int number = 0;
  for (const auto& [q_heads, kv_heads] : kHeads) {
    Rng rng =
        probe.begin_case(fmt::format("heads_{}_on_{}_number_{}", q_heads, kv_heads, ++number));
    const bool causal = rng.chance(0.5);
    CallOptions options = in_layout({.rows_outside = rng.chance(0.5)});
    options.want_lse = number != 3;
    Problem problem({2, q_heads, kv_heads, causal ? 60 : 17, 60, 16, 16});
    problem.form.causal = causal;
    fill_sharp(problem, rng);
    require_right(probe, problem, options);
  }
  // Who multiplies by a reciprocal finds the wrong head where it is rounded down.
  constexpr std::int64_t kKeyHeads = 3;
  for (std::int64_t group = 1; group <= kLargestGroup; ++group) {
    Rng rng = probe.begin_case(fmt::format("{} heads on each", group));
    Problem problem({1, kKeyHeads * group, kKeyHeads, 1, 2, 2, 1});
    fill_sharp(problem, rng);
    require_right(probe, problem);
  }
  ask_large(probe, {{"kv heads", {"2"}}, {"group", {"2"}}, kFewOrManyQueries});
}

/// Keys without a query that would read them may be missing.
void ask_unread(Probe& probe) {
  for (const Sizes& sizes : {Sizes{2, 2, 1, 0, 5, 8, 8}, Sizes{2, 0, 3, 4, 5, 8, 8}})
    for (const char* missing : {"k", "v"}) {
      Rng rng = probe.begin_case(fmt::format("{} missing, {} queries", missing, sizes.q_len));
      Problem problem(sizes);
      fill_sharp(problem, rng);
      CallOptions options;
      options.missing = missing;
      require_right(probe, problem, options);
    }
}

void tiny_shapes(Probe& probe) {
  const Sizes shapes[] = {{1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 64, 64}, {2, 2, 1, 1, 3, 8, 8},
                          {1, 1, 1, 3, 1, 8, 8}, {1, 1, 1, 5, 0, 8, 8},   {1, 2, 1, 0, 5, 8, 8},
                          {0, 2, 1, 5, 5, 8, 8}, {2, 0, 0, 5, 5, 8, 8},   {1, 2, 2, 40, 0, 16, 3},
                          {1, 1, 1, 0, 0, 4, 4}, {3, 4, 2, 2, 2, 4, 5}};
  for (const Sizes& sizes : shapes)
    for (const bool causal : {false, true}) {
      if (causal && sizes.q_len != sizes.k_len && sizes.k_len > 0) continue;  // causal_alignment's
      Rng rng = probe.begin_case(fmt::format("{}_{}_{}_{}x{}_{}{}", sizes.batch, sizes.q_heads,
                                             sizes.kv_heads, sizes.q_len, sizes.k_len, sizes.dim,
                                             causal ? "_causal" : ""));
      Problem problem(sizes);
      problem.form.causal = causal;
      fill_sharp(problem, rng);
      require_right(probe, problem);
    }
  ask_unread(probe);
}

/// Products of scale and keys that are beyond floats, which the contract allows: none that it names
/// is. Queries are no smaller than floats hold in full.
void put_huge_keys(Problem& problem, Rng& rng) {
  constexpr double kKey = 1e37;  // times the scale: 5e38 and more
  constexpr double kQuery = 2e-38;
  problem.form.scale = 100;
  for (float& k : problem.k.data) k = static_cast<float>(rng.uniform(0.5, 2) * kKey);
  for (float& q : problem.q.data)
    q = static_cast<float>((rng.chance(0.5) ? 1 : -1) * rng.uniform(1, 3) * kQuery);
}

void scale_and_softcap(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  const std::int64_t length = shape.integer(80, 120);
  const Sizes sizes{1, 1, 1, length, length, shape.integer(30, 50), 20};
  const float default_scale = 1 / std::sqrt(static_cast<float>(sizes.dim));
  struct Setting {
    const char* name;
    float scale;
    float softcap;
    double deviation;
  };
  const Setting settings[] = {{"scale_1", 1, 0, 3.5},
                              {"scale_1/dim", default_scale * default_scale, 0, 3.5},
                              {"scale_0", 0, 0, 3.5},
                              {"scale_negative", -0.3f, 0, 4},
                              {"scale_tiny", 1e-6f, 0, 3.5},
                              {"softcap_15", default_scale, 15, 12},
                              {"softcap_30", default_scale, 30, 25},
                              {"softcap_50", 0.2f, 50, 40},
                              {"softcap_2", 1, 2, 6},
                              {"softcap_5_negative_scale", -0.5f, 5, 6}};
  for (const Setting& setting : settings)
    for (const bool causal : {false, true}) {
      Rng rng = probe.begin_case(fmt::format("{}{}", setting.name, causal ? "_causal" : ""));
      Problem problem(sizes);
      problem.form.causal = causal;
      problem.form.scale = setting.scale;
      problem.form.softcap = setting.softcap;
      fill_scores(problem, rng, setting.deviation);
      fill_values(problem, rng);
      // A cap is no reason to leave out the maximum: e^cap times the largest values overflows.
      if (causal && setting.softcap > 0) grow_values(problem);
      require_right(probe, problem);
    }
  Rng rng = probe.begin_case("scale times keys beyond floats");
  Problem problem(sizes);
  put_huge_keys(problem, rng);
  fill_values(problem, rng);
  require_right(probe, problem);
  ask_large(probe, {{"softcap", {"2 to 20"}}, kFewOrManyQueries});
}

std::int32_t drawn(Rng& rng, std::int64_t low, std::int64_t high) {
  return static_cast<std::int32_t>(rng.integer(low, high));
}

/// The first and the last keys weigh as much as the others of 10^5: who leaves a few out shows.
void raise_ends(Problem& problem) {
  constexpr std::int64_t kEnd = 30;
  constexpr double kAbove = 8;
  add_to_scores(
      problem, 0, [](auto, auto, auto) { return 1.0; },
      [&](auto, auto, auto j) {
        return j < kEnd || j >= problem.form.k_len - kEnd ? kAbove : 0.0;
      });
}

/// No entry is too many to be looked at, wherever in the list it stands.
void refuse_lists(Probe& probe, const Problem& problem, Rng& rng) {
  const std::int64_t last = problem.form.batch - 1;
  for (const std::int64_t entry : {rng.integer(last / 2, last), last}) {
    Problem spoilt = problem;
    spoilt.form.kv_len[static_cast<std::size_t>(entry)] =
        static_cast<std::int32_t>(problem.form.k_len + 1);
    ForwardCall call(spoilt);
    kit::require_refused(probe, call, FLASH_ATTENTION_BAD_ARGUMENT);
  }
}

constexpr std::int64_t kNone = std::int64_t{1} << 16;  // who counts with 16 bits counts none

// Counts that 16 bits do not hold, of each dimension alone. Masks have their ends among the last
// keys or queries: who counts with 16 bits looks elsewhere.
void beyond_16_bits(Probe& probe) {
  const std::int64_t many = kNone + probe.begin_case("size").integer(40, 90);
  CallOptions options;
  for (const auto& [name, sizes] : kit::long_dimensions(kNone)) {
    Rng rng = probe.begin_case(fmt::format("{}, 2^16", name));
    Problem problem(sizes);
    options.threads = options.threads == 1 ? 8 : 1;
    fill_sharp(problem, rng);
    require_right(probe, problem, options);
  }
  for (const auto& [name, sizes] : kit::long_dimensions(many))
    for (const char* mask : {"no mask", "lists", "window", "causal window"}) {
      Rng rng = probe.begin_case(fmt::format("{}, {}", name, mask));
      Problem problem(sizes);
      fill_sharp(problem, rng);
      if (sizes.k_len == many) raise_ends(problem);
      if (mask == std::string_view("lists")) kit::draw_lists(problem.form, rng);
      if (sizes.k_len == many && !problem.form.kv_start.empty()) {
        problem.form.kv_start[0] = drawn(rng, many - 30, many - 1);
        problem.form.kv_len[0] = drawn(rng, 1, many - problem.form.kv_start[0]);
      }
      problem.form.causal = mask == std::string_view("causal window");
      if (problem.form.causal) problem.form.window_left = rng.integer(0, 30);
      if (mask == std::string_view("window")) problem.form.window_right = sizes.q_len / 2;
      options.threads = options.threads == 1 ? 8 : 1;
      require_right(probe, problem, options);
      if (sizes.batch == many && !problem.form.kv_len.empty()) refuse_lists(probe, problem, rng);
    }
}

void contract_limits(Probe& probe) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  constexpr std::int64_t kWindow = std::int64_t{1} << 40;
  constexpr std::int64_t kOddGroup = 41;  // of heads; divides 2^20 - 1
  const Sizes shapes[] = {{kMost, 1, 1, 1, 2, 1, 1},
                          {1, kMost, 2, 1, 1, 1, 2},
                          {1, kMost - 1, (kMost - 1) / kOddGroup, 1, 1, 1, 1},
                          {1, 1, 1, kMost, 2, 2, 1},
                          {1, 1, 1, 1, kMost, 2, 2},
                          {1, 1, 1, 1, kNone, 2, 2},
                          {1, 1, 1, 9, 40, 256, 256}};
  for (const Sizes& sizes : shapes) {
    Rng rng = probe.begin_case(fmt::format("{}_{}_{}x{}_{}", sizes.batch, sizes.q_heads,
                                           sizes.q_len, sizes.k_len, sizes.dim));
    Problem problem(sizes);
    problem.form.window_left = problem.form.window_right = kWindow;
    if (sizes.q_len == kMost) problem.form.window_right = rng.integer(kMost / 2, kMost);
    if (sizes.k_len == kMost) problem.form.window_left = rng.integer(kMost / 16, kMost / 8);
    if (sizes.batch == kMost) kit::draw_lists(problem.form, rng);
    fill_sharp(problem, rng);
    if (sizes.k_len == kMost) raise_ends(problem);
    CallOptions options;
    // One row, whose keys may be divided between so many.
    if (sizes.k_len == kNone) options.threads = kit::kManyThreads;
    require_right(probe, problem, options);
    if (sizes.batch == kMost) refuse_lists(probe, problem, rng);
  }
}

/// So many of the keys exist, behind padding, before it, and between two paddings.
Problem with_existing(std::int64_t count, Rng& rng) {
  const std::int32_t missing = drawn(rng, 2, 20);
  Problem problem({3, 1, 1, drawn(rng, 16, 24), count + missing, 4, 3});
  problem.form.kv_start = {missing, 0, drawn(rng, 1, missing - 1)};
  problem.form.kv_len.assign(3, static_cast<std::int32_t>(count));
  return problem;
}

// A fault at one length in a hundred: no list of boundaries names it.
void consecutive_lengths(Probe& probe) {
  constexpr std::int64_t kLongest = 200;
  for (std::int64_t count = 1; count <= kLongest; ++count) {
    Rng rng = probe.begin_case(fmt::format("existing keys, {}", count));
    Problem problem = with_existing(count, rng);
    fill_sharp(problem, rng);
    require_right(probe, problem);
  }
  for (const std::string_view kind :
       {"causal", "window", "wide window", "padding", "few queries", "few keys"})
    for (std::int64_t length = 1; length <= kLongest; ++length) {
      Rng rng = probe.begin_case(fmt::format("{}, {}", kind, length));
      Problem problem({1, 1, 1, kind == "few queries" ? drawn(rng, 1, 3) : length,
                       kind == "few keys" ? drawn(rng, 1, 3) : length, 4, 3});
      problem.form.causal = kind == "causal";
      if (kind == "window") {
        problem.form.window_left = rng.integer(0, 70);
        problem.form.window_right = rng.integer(0, 20);
      }
      // Each width from 0 to 133, so that a row's window begins anywhere in a tile.
      if (kind == "wide window") problem.form.window_left = length * 2 / 3;
      if (kind == "padding") kit::draw_lists(problem.form, rng);
      // Windows that are wider than what exists, beside keys that do not.
      if (kind == "few queries" && length % 2 == 0) {
        kit::draw_lists(problem.form, rng);
        problem.form.window_left = rng.integer(0, length);
      }
      fill_sharp(problem, rng);
      require_right(probe, problem);
    }
  ask_large(probe, {{"k_len"}, kFewOrManyQueries});
}

// Everything at once at lengths where a solution may take another path than for short sequences.
void long_sequences(Probe& probe) {
  for (int number = 0; number < 6; ++number) {
    Rng rng = probe.begin_case(fmt::format("number_{}", number));
    Sizes sizes;
    sizes.q_heads = number % 2 == 0 ? 2 : 1;
    sizes.q_len = rng.integer(900, 2000);
    sizes.k_len = rng.integer(1000, 2400);
    sizes.dim = number < 2 ? 64 : rng.integer(8, 40);
    sizes.value_dim = number < 2 ? 64 : rng.integer(8, 40);
    CallOptions options;
    if (number % 3 == 0)
      options = in_layout({.rows_outside = true, .outer_gap = rng.integer(1, 2 * sizes.dim + 3)});
    Problem problem(sizes);
    problem.form.causal = rng.chance(0.5);
    if (number >= 3) problem.form.window_left = rng.integer(0, 700);
    if (number == 5) problem.form.window_right = rng.integer(0, 300);
    if (number == 2) problem.form.softcap = 20;
    if (number % 3 == 1) {
      problem.form.kv_start = {static_cast<std::int32_t>(rng.integer(1, 300))};
      problem.form.kv_len = {static_cast<std::int32_t>(rng.integer(500, 700))};
    }
    fill_scores(problem, rng, 3, 1);
    fill_values(problem, rng);
    const double climb = rng.uniform(-0.05, 0.05);
    add_to_scores(
        problem, 0, [&](auto, auto, auto) { return rng.uniform(0.5, 1.5); },
        [&](auto, auto, auto j) { return climb * static_cast<double>(j); });
    const Answer answer = ask(probe, problem, options);
    if (const auto miss = some_rows(problem, rng, 60).miss(answer))
      probe.fail(*miss, {kit::describe(problem.form)});
  }
  ask_large_pairs(probe);
}

}  // namespace

std::vector<Check> shapes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"grouped_heads", "key heads taken modulo instead of in groups", correctness, 2, critical},
       grouped_heads},
      {{"head_dims", "head sizes that fill no vector, values of another size", correctness, 2,
        major},
       head_dims},
      {{"scale_and_softcap", "a built-in scale, a cap before the scale", correctness, 1, major},
       scale_and_softcap},
      {{"long_sequences", "another path for long sequences", correctness, 2, critical},
       long_sequences},
      {{"tiny_shapes", "sizes of 0 and 1", robustness, 1, major}, tiny_shapes},
      {{"beyond_16_bits", "counts beyond 16 bits, each alone, masked and not", robustness, 1,
        major},
       beyond_16_bits},
      {{"contract_limits", "the largest sizes that the contract allows", robustness, 0.5, minor},
       contract_limits},
      {{"consecutive_lengths", "a fault at one length among many", correctness, 1, major},
       consecutive_lengths},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
