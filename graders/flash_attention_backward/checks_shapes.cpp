// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <string_view>

#include "graders/kit/attention_domain.h"
#include "graders/kit/laps.h"
#include "harness/grading/grader.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void head_dims(Probe& probe) {
  constexpr std::int64_t kDims[] = {1,  2,  3,  7,  8,   15,  16,  17,  24,  31,  33,  47,  59,
                                    64, 65, 80, 96, 111, 127, 128, 129, 160, 192, 224, 255, 256};
  const auto any = [&](Rng& rng) {
    return rng.chance(0.3) ? rng.integer(1, 256) : kDims[rng.integer(0, std::size(kDims) - 1)];
  };
  for (int n = 0; n < 8; ++n) {
    Rng rng = probe.begin_case(fmt::format("dims {}", n));
    Sizes sizes;
    sizes.q_heads = 2;
    sizes.q_len = rng.integer(20, 90);
    sizes.k_len = rng.integer(20, 90);
    sizes.dim = n == 0 ? 256 : any(rng);
    sizes.value_dim = n == 0 ? 255 : n % 2 == 1 ? sizes.dim : any(rng);
    // And once surely much less than value_dim.
    if (n == 2) sizes.value_dim = rng.integer(64, 256), sizes.dim = sizes.value_dim / 2;
    Problem problem = random_problem(rng, sizes);
    problem.form.causal = rng.chance(0.3);
    attend(problem);
    require_right(probe, problem);
  }
}

void grouped_heads(Probe& probe) {
  for (const std::int64_t group : {2, 4, 7, 8, 17}) {
    Rng rng = probe.begin_case(fmt::format("groups of {}", group));
    Sizes sizes;
    sizes.batch = rng.integer(1, 2);
    sizes.kv_heads = group >= 7 ? 1 : rng.integer(2, 3);
    sizes.q_heads = group * sizes.kv_heads;
    sizes.q_len = rng.integer(66, 100);
    sizes.k_len = rng.integer(66, 140);
    sizes.dim = 16;
    sizes.value_dim = 24;
    Problem problem = attended_problem(rng, sizes);
    require_right(probe, problem);
  }
}

void scales(Probe& probe) {
  for (const float scale : {1.0f, 0.0f, -0.2f, 0.05f}) {
    Rng rng = probe.begin_case(fmt::format("scale {}", scale));
    Problem problem = attended_problem(rng, 50, 66);
    problem.form.scale = scale;
    const double size = scale == 0 ? 1 : 0.4 / std::abs(scale);
    for (float& q : problem.q.data)
      q *= static_cast<float>(size / std::sqrt(double(problem.form.dim)));
    attend(problem);
    require_right(probe, problem);
  }
  // q.k is usual, and scale times it, but scale times the larger of the two is not in float. dout
  // is as small as dk, which has scale times q as a factor, asks for.
  for (const bool large_q : {true, false}) {
    Rng rng = probe.begin_case(fmt::format("scale 256, {} large", large_q ? "q" : "k"));
    constexpr float kLarge = 0x1p120f, kDout = 1e-12f;
    Problem problem = attended_problem(rng, 50, 66);
    const float before = static_cast<float>(problem.form.scale);
    problem.form.scale = 256;
    for (float& number : (large_q ? problem.q : problem.k).data) number *= kLarge;
    for (float& number : (large_q ? problem.k : problem.q).data) number *= before / 256 / kLarge;
    for (float& dout : problem.dout.data) dout *= kDout;
    attend(problem);
    require_right(probe, problem);
  }
}

void softcap(Probe& probe) {
  for (const float cap : {15.0f, 30.0f, 50.0f, 3e3f, 2.0f, 1e-4f, 1.4e-45f}) {
    Rng rng = probe.begin_case(fmt::format("softcap {}", cap));
    Problem problem = attended_problem(rng, 50, 66);
    problem.form.softcap = cap;
    for (float& q : problem.q.data)
      q *= static_cast<float>(cap / 9);  // so that the cap bends the scores
    attend(problem);
    require_right(probe, problem);
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
    if (made.q_len != made.k_len) sizes.kv_heads = 2, sizes.q_heads = 4;
    Problem problem = attended_problem(rng, sizes);
    require_right(probe, problem);
    // Strides of what there is one of, or none, may be any; heads have gaps, and rows have none.
    CallOptions options;
    for (kit::Layout* layout : {&options.q, &options.k, &options.v, &options.o, &options.dout,
                                &options.dq, &options.dk, &options.dv}) {
      layout->outer_gap = rng.integer(1, 9);
      layout->idle = std::numeric_limits<std::int64_t>::max();
    }
    require_right(probe, problem, options);
  }
}

std::int32_t drawn(Rng& rng, std::int64_t low, std::int64_t high) {
  return static_cast<std::int32_t>(rng.integer(low, high));
}

/// The first of `count` rows, the last ones and some between: where counts wrap around, both ends
/// are wrong.
std::vector<std::int64_t> ends_and_some(Rng& rng, std::int64_t count) {
  constexpr std::int64_t kOfEach = 100;
  if (count <= 3 * kOfEach) return kit::all_of(count);
  std::vector<std::int64_t> rows = kit::some_of(rng, count, kOfEach);
  for (std::int64_t n = 0; n < kOfEach; ++n) rows.insert(rows.end(), {n, count - 1 - n});
  return rows;
}

/// A cap near the scores that fill_quickly() makes.
void put_cap(Problem& problem, Rng& rng) {
  problem.form.softcap = static_cast<float>(rng.uniform(1, 4));
}

/// What has a number for each query: dlse, delta, which is wanted, and then lse as well, some of
/// which require_rows() makes -infinity.
void put_statistics(Problem& problem, Rng& rng, CallOptions& options) {
  problem.dlse.resize(problem.lse.size());
  kit::fill_uniform(rng, problem.dlse);
  options.want_delta = true;
}

void require_rows(Probe& probe, Problem& problem, Rng& rng, CallOptions options = {}) {
  // Who starts threads for each batch entry takes long, and may.
  constexpr std::int64_t kManyEntries = 1000;
  if (problem.form.batch > kManyEntries) options.threads = 1;
  fill_quickly(problem, rng);
  if (!problem.dlse.empty())  // every seventh query saw no key
    for (std::size_t row = static_cast<std::size_t>(rng.integer(0, 6)); row < problem.lse.size();
         row += 7)
      problem.lse[row] = -kit::kInfinity;
  const Answer answer = ask(probe, problem, options);
  const kit::AttentionProblem& form = problem.form;
  const auto queries = ends_and_some(rng, problem.q_rows());
  const auto keys = ends_and_some(rng, form.batch * form.kv_heads * form.k_len);
  probe.require(JudgedRows(problem, queries, keys).miss(answer));
}

/// More queries on one head than a stack has room for numbers, most of which saw no key.
void ask_more_than_a_stack_holds(Probe& probe) {
  constexpr std::int64_t kLength = std::int64_t{1} << 20;
  Rng rng = probe.begin_case("several times 2^20 queries on one head");
  const std::int64_t heads = rng.integer(3, 4);
  Problem problem({1, heads, 1, 1, 1, 2, 2});
  problem.form.q_len = kLength - rng.integer(0, 99);
  for (kit::Tensor* one : {&problem.q, &problem.dout, &problem.o}) *one = kit::Tensor({1, 1, 1, 2});
  fill_quickly(problem, rng);
  problem.lse.assign(static_cast<std::size_t>(problem.q_rows()), -kit::kInfinity);
  for (const std::int64_t row : kit::some_of(rng, problem.q_rows(), 1000))
    problem.lse[static_cast<std::size_t>(row)] = static_cast<float>(rng.uniform(40, 60));
  CallOptions options;
  options.q.idle = options.dout.idle = options.o.idle = 0;
  options.want_dq = false;
  probe.require(JudgedRows(problem, {}, {0}).miss(ask(probe, problem, options)));
}

// Counts that 16 bits do not hold, of each dimension alone. Masks have their ends among the last
// keys or queries: who counts with 16 bits looks elsewhere. Of 2^16 he counts none. A cap, dlse and
// delta each come with some masks and not with others.
void beyond_16_bits(Probe& probe) {
  constexpr std::int64_t kNone = std::int64_t{1} << 16;
  const std::int64_t many = kNone + probe.begin_case("size").integer(40, 90);
  CallOptions options;
  for (const auto& [name, sizes] : kit::long_dimensions(kNone)) {
    Rng rng = probe.begin_case(fmt::format("{}, 2^16", name));
    Problem problem(sizes);
    options.threads = options.threads == 1 ? 8 : 1;
    require_rows(probe, problem, rng, options);
  }
  for (const auto& [name, sizes] : kit::long_dimensions(many))
    for (const std::string_view mask : {"no mask", "lists", "window", "causal window"}) {
      Rng rng = probe.begin_case(fmt::format("{}, {}", name, mask));
      Problem problem(sizes);
      if (mask == "lists") kit::draw_lists(problem.form, rng);
      if (sizes.k_len == many && mask == "lists") {
        problem.form.kv_start[0] = drawn(rng, many - 30, many - 1);
        problem.form.kv_len[0] = drawn(rng, 1, many - problem.form.kv_start[0]);
      }
      problem.form.causal = mask == "causal window";
      if (problem.form.causal) problem.form.window_left = rng.integer(0, 30);
      if (mask == "window") problem.form.window_right = sizes.q_len / 2;
      options.threads = options.threads == 1 ? 8 : 1;
      CallOptions some = options;
      if (mask.ends_with("window")) put_cap(problem, rng);
      if (mask == "lists" || mask == "window") put_statistics(problem, rng, some);
      require_rows(probe, problem, rng, some);
    }
  ask_more_than_a_stack_holds(probe);
}

void contract_limits(Probe& probe) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  constexpr std::int64_t kWindow = std::int64_t{1} << 40;
  const Sizes shapes[] = {{kMost, 1, 1, 1, 2, 1, 1},   {1, kMost, 2, 1, 1, 1, 2},
                          {1, 2, 1, kMost, 1, 1, 1},   {1, 1, 1, 1, kMost, 2, 2},
                          {1, 1, 1, 2, 1 << 16, 2, 2}, {1, 1, 1, 9, 40, 256, 256}};
  for (const Sizes& sizes : shapes) {
    Rng rng = probe.begin_case(fmt::format("{}_{}_{}x{}_{}", sizes.batch, sizes.q_heads,
                                           sizes.q_len, sizes.k_len, sizes.dim));
    Problem problem(sizes);
    problem.form.window_left = problem.form.window_right = kWindow;
    if (sizes.q_len == kMost) problem.form.window_right = rng.integer(kMost / 2, kMost);
    if (sizes.k_len == kMost) problem.form.window_left = rng.integer(kMost / 16, kMost / 8);
    if (sizes.batch == kMost) kit::draw_lists(problem.form, rng);
    if (sizes.q_heads == kMost || sizes.q_len == kMost || sizes.k_len == kMost)
      put_cap(problem, rng);
    CallOptions options;
    put_statistics(problem, rng, options);
    if (sizes.dim > 2) options.threads = kit::kManyThreads;
    require_rows(probe, problem, rng, options);
  }
}

// A fault at one length in a hundred, or at one number of heads: no list of boundaries names it.
void consecutive_lengths(Probe& probe) {
  constexpr std::int64_t kLongest = 200, kMostHeads = 110;
  for (const std::string_view kind :
       {"causal", "window", "padding", "few queries", "few keys", "heads", "groups"}) {
    const bool of_heads = kind == "heads" || kind == "groups";
    for (std::int64_t length = 1; length <= (of_heads ? kMostHeads : kLongest); ++length) {
      Rng rng = probe.begin_case(fmt::format("{}, {}", kind, length));
      const std::int64_t padding = kind == "padding" ? rng.integer(1, 20) : 0;
      Sizes sizes{1, 1, 1, length, length + padding, 4, 3};
      if (kind == "few queries") sizes.q_len = drawn(rng, 1, 3);
      if (kind == "few keys") sizes.q_heads = 2, sizes.k_len = drawn(rng, 1, 3);
      if (kind == "heads") sizes = {2, length, length, 1, 2, 2, 1};
      if (kind == "groups") sizes = {1, 2 * length, 2, 1, 2, 2, 1};
      Problem problem = random_problem(rng, sizes);
      problem.form.causal = kind == "causal";
      if (kind == "window") {
        problem.form.window_left = rng.integer(0, 70);
        problem.form.window_right = rng.integer(0, 20);
      }
      if (kind == "few keys") problem.form.window_left = rng.integer(0, sizes.k_len - 1);
      if (kind == "padding") {
        problem.form.kv_start = {drawn(rng, 0, padding)};
        problem.form.kv_len = {static_cast<std::int32_t>(length)};
      }
      attend(problem);
      CallOptions options;
      options.want_delta = true;
      if (kind.starts_with("few")) problem.dlse.assign(problem.lse.size(), 0.25f);
      require_right(probe, problem, options);
    }
  }
}

}  // namespace

std::vector<Check> shapes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"head_dims", "columns that fill no vector, value_dim taken for head_dim", correctness, 1,
        major},
       head_dims},
      {{"grouped_heads", "query heads of a group that do not add up", correctness, 2, critical},
       grouped_heads},
      {{"scales", "scale taken for 1/sqrt(head_dim), or applied once too often", correctness, 1,
        major},
       scales},
      {{"softcap", "the slope of the cap forgotten", correctness, 1, major}, softcap},
      {{"empty_problems", "no queries, no keys, no batch", robustness, 1, major}, empty_problems},
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
