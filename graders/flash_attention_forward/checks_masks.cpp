// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <string>
#include <utility>

#include "harness/grading/grader.h"
#include "judge.h"
#include "large.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct Window {
  std::int64_t left;
  std::int64_t right;
};

constexpr std::int64_t kFar = (std::int64_t{1} << 32) + 1;  // all keys; 1 if cut to 32 bits

// Whole vectors, blocks and tiles, as usual solutions have them.
constexpr std::int64_t kEdges[] = {0, 16, 32, 48, 64, 80, 96, 112, 128};

/// Each edge, and what lies just beside it.
std::vector<std::int64_t> beside_edges() {
  std::vector<std::int64_t> numbers;
  for (const std::int64_t edge : kEdges)
    for (const std::int64_t number : {edge - 1, edge, edge + 1})
      if (number >= 0) numbers.push_back(number);
  return numbers;
}

/// Where a row has weight and where it has none, key by key: values are one-hot, so that o is P.
void require_support(Probe& probe, const Problem& problem, const Answer& answer) {
  const kit::AttentionProblem& form = problem.form;
  for (std::int64_t i = 0; i < form.q_len; ++i) {
    const kit::KeyRange keys = form.visible_keys(0, i);
    for (std::int64_t j = 0; j < form.k_len; ++j) {
      const float weight = answer.o[static_cast<std::size_t>(i * form.value_dim + j)];
      const bool wanted = j >= keys.first && j < keys.last;
      if (wanted ? weight > 0 : weight == 0) continue;
      probe.fail(fmt::format("query {} gives key {} weight {:g}, want {}", i, j, weight,
                             wanted ? "more than 0" : "0"),
                 {kit::describe(form),
                  fmt::format("query {} sees keys {} to {}", i, keys.first, keys.last - 1)});
    }
  }
}

void require_window(Probe& probe, const Sizes& sizes, Window window, bool causal, Rng& rng) {
  Problem problem(sizes);
  problem.form.window_left = window.left;
  problem.form.window_right = window.right;
  problem.form.causal = causal;
  fill_scores(problem, rng, 0.8);
  fill_one_hot_values(problem);
  const Answer answer = ask(probe, problem);
  require_support(probe, problem, answer);
  require_close(probe, problem, answer, expect(problem));
}

void causal_alignment(Probe& probe) {
  constexpr std::pair<int, int> kShapes[] = {{1, 239},   {3, 799},   {113, 203}, {108, 256},
                                             {799, 3},   {203, 113}, {257, 256}, {256, 257},
                                             {100, 100}, {100, 37},  {37, 100},  {65, 1}};
  for (const auto& [queries, keys] : kShapes)
    for (const bool again : {false, true}) {
      if (again && queries > 120) continue;
      Rng rng = probe.begin_case(fmt::format("{}x{}{}", queries, keys, again ? "_again" : ""));
      Problem problem({1, 2, 2, queries, keys, 16, 24});
      problem.form.causal = true;
      fill_sharp(problem, rng);
      require_right(probe, problem);
    }
}

void window_support(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  Sizes square;
  square.q_len = square.k_len = square.value_dim = shape.integer(120, 160);
  square.dim = 16;
  const std::int64_t last = square.k_len - 1;
  const Window windows[] = {{0, 0},       {1, 0},   {0, 1},   {40, 0},   {last, 0},
                            {63, 0},      {31, 32}, {64, 64}, {-1, 5},   {5, -1},
                            {last, last}, {-1, 0},  {-1, -1}, {kFar, 2}, {3, kFar}};
  for (const Window& window : windows) {
    Rng rng = probe.begin_case(fmt::format("window_{}_{}", window.left == last ? 999 : window.left,
                                           window.right == last ? 999 : window.right));
    require_window(probe, square, window, rng.chance(0.3), rng);
  }
  for (int number = 0; number < 8; ++number) {
    Rng rng = probe.begin_case(fmt::format("any_window_{}", number));
    Sizes sizes = square;
    sizes.q_len = rng.integer(1, 200);
    require_window(probe, sizes, {rng.integer(-1, 90), rng.integer(-1, 20)}, rng.chance(0.5), rng);
  }
  for (const bool causal : {false, true}) {
    Rng rng = probe.begin_case(fmt::format("one_query{}", causal ? "_causal" : ""));
    Sizes one = square;
    one.q_len = 1;
    require_window(probe, one, {rng.integer(1, 90), -1}, causal, rng);
  }
  const kit::Classes wide{"window left", {"-1", "600 to 1000", "k_len - 1"}};
  ask_large(probe, {wide, {"window right", {"0 to 60", "600 to 1000"}}, {"causal"}});
  ask_large(probe, {{"window left", {"0 to 60"}}, {"kv_len", {"half"}}, kFewOrManyQueries});
}

// So many keys exist that they end at a tile's end, or beside it: in one call, an entry for each
// number.
void padded_to_edges(Probe& probe) {
  const std::vector<std::int64_t> counts = beside_edges();
  for (const char* kind : {"starts", "lengths", "both"}) {
    Rng rng = probe.begin_case(fmt::format("edges_{}", kind));
    const std::string name = kind;
    Problem problem(
        {std::ssize(counts), 1, 1, rng.integer(20, 40), counts.back() + rng.integer(1, 40), 8, 8});
    fill_sharp(problem, rng);
    for (const std::int64_t count : counts) {
      const std::int64_t left = problem.form.k_len - count;
      const std::int64_t start = name == "both" ? rng.integer(0, left) : left;
      if (name != "lengths") problem.form.kv_start.push_back(static_cast<std::int32_t>(start));
      if (name != "starts") problem.form.kv_len.push_back(static_cast<std::int32_t>(count));
    }
    for (kit::Tensor* tensor : {&problem.k, &problem.v})
      kit::for_each_missing_key(*tensor, problem.form,
                                [&](std::span<float> row) { std::ranges::fill(row, kit::kNan); });
    require_right(probe, problem);
  }
}

// Left and right padding and empty entries. The padding holds large numbers or NaN: whoever lets a
// padded key in shows it.
void padded_keys(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  Sizes sizes{5, 2, 2, 0, shape.integer(150, 190), 16, 16};
  for (const char* kind : {"square", "square_causal", "decode_causal", "one_query",
                           "one_query_causal", "full", "starts_only", "lengths_only"}) {
    Rng rng = probe.begin_case(kind);
    const std::string name = kind;
    sizes.q_len = name.starts_with("one_query") ? 1
                  : name == "decode_causal"     ? 5
                  : name == "full"              ? 33
                                                : sizes.k_len;
    Problem problem(sizes);
    problem.form.causal = name.find("causal") != std::string::npos;
    if (name == "one_query") problem.form.window_left = rng.integer(30, 60);
    fill_sharp(problem, rng);
    const auto count = static_cast<std::int32_t>(sizes.k_len);
    std::vector<std::int32_t> starts{0, static_cast<std::int32_t>(rng.integer(1, 40)),
                                     static_cast<std::int32_t>(rng.integer(64, 140)), 7, count};
    std::vector<std::int32_t> lengths;
    for (const std::int32_t start : starts)
      lengths.push_back(static_cast<std::int32_t>(
          rng.integer(1, 3) == 1 ? count - start : rng.integer(0, count - start)));
    lengths[3] = 0;
    if (name != "lengths_only") problem.form.kv_start = starts;
    if (name != "starts_only") problem.form.kv_len = lengths;
    for (kit::Tensor* tensor : {&problem.k, &problem.v})
      kit::for_each_missing_key(*tensor, problem.form, [&](std::span<float> row) {
        for (float& number : row) number = name == "full" ? kit::kNan : 30 * number;
      });
    require_right(probe, problem);
  }
  padded_to_edges(probe);
  ask_large(probe, {{"kv_start"}, {"kv_len"}, {"batch", {"2"}}});
  ask_large(probe, {{"kv_start", {"500 to 600"}}, {"kv_len", {"half"}}, kFewOrManyQueries});
}

// In a square, a row stands as far from the ends of its window as the window is wide. With widths
// beside every edge, the first and the last row of a block begin and end at the first and the last
// key of a tile, whatever the sizes of both. Padding moves the tiles.
void windows_at_edges(Probe& probe) {
  const std::vector<std::int64_t> widths = beside_edges();
  for (const std::int64_t width : widths)
    for (const bool left : {false, true})
      for (const bool padded : {false, true}) {
        Rng rng = probe.begin_case(
            fmt::format("edge_{}_{}{}", left ? "left" : "right", width, padded ? "_padded" : ""));
        const std::int64_t length = 2 * widths.back() + rng.integer(1, 30);
        const std::int64_t other = rng.integer(1, 9);
        Problem problem({1, 1, 1, length, length, 4, 3});
        problem.form.window_left = left ? width : other;
        problem.form.window_right = left ? other : width;
        if (padded) problem.form.kv_start = {static_cast<std::int32_t>(rng.integer(1, 40))};
        fill_sharp(problem, rng);
        require_right(probe, problem);
      }
}

// Windows that begin far behind the first key, and rows before the first window: whole tiles in
// which a row sees nothing come first for one traversal order and last for the other.
void late_windows(Probe& probe) {
  Rng shape = probe.begin_case("shape");
  const std::int64_t length = shape.integer(380, 420);
  const Window windows[] = {{20, 0}, {7, -1}, {-1, 7}, {100, 3}, {0, 0}, {kFar, 0}};
  for (const Window& window : windows)
    for (const bool more_queries : {false, true}) {
      Rng rng = probe.begin_case(fmt::format("window_{}_{}{}", window.left, window.right,
                                             more_queries ? "_more_queries" : ""));
      Problem problem({1, 2, 2, length, more_queries ? rng.integer(150, 250) : length, 16, 16});
      problem.form.window_left = window.left;
      problem.form.window_right = window.right;
      problem.form.causal = window.right < 0 && !more_queries;
      fill_sharp(problem, rng);
      require_right(probe, problem);
    }
  windows_at_edges(probe);
}

}  // namespace

std::vector<Check> masks_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"causal_alignment", "top-left causal masks, rows that see no key", correctness, 3,
        critical},
       causal_alignment},
      {{"window_support", "window ends off by one, key by key", correctness, 3, critical},
       window_support},
      {{"padded_keys", "left and right padding, empty batch entries", correctness, 3, critical},
       padded_keys},
      {{"late_windows", "NaN from tiles in which a row sees nothing", correctness, 3, critical},
       late_windows},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
