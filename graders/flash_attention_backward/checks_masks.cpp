// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "graders/kit/inputs.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int64_t kFarthest = std::int64_t{1} << 40;  // window ends of the contract

// The same numbers with and without the flag, in one process: whoever answers from memory, or knows
// one of the two only, is wrong once.
void causal_flag(Probe& probe) {
  for (int n = 0; n < 2; ++n) {
    Rng rng = probe.begin_case(fmt::format("both flags {}", n));
    const std::int64_t length = near_tile_edge(rng, 129, 230);
    Problem problem = random_problem(rng, drawn_sizes(rng, length, length));
    for (const bool causal : {true, false, true}) {
      problem.form.causal = causal;
      attend(problem);
      require_right(probe, problem);
    }
  }
}

// Causal masks are aligned at the last query and the last key. Long enough that whole tiles above
// the diagonal must be passed over without ending the walk.
void unequal_lengths(Probe& probe) {
  struct Case {
    const char* name;
    std::int64_t least_q, least_k;
  };
  for (const Case& made : {Case{"more keys", 70, 200}, Case{"many more keys", 5, 250},
                           Case{"more queries", 200, 70}, Case{"one key more", 150, 0}}) {
    Rng rng = probe.begin_case(made.name);
    const std::int64_t q_len = made.least_q + rng.integer(0, 30);
    const std::int64_t k_len = made.least_k == 0 ? q_len + 1 : made.least_k + rng.integer(0, 30);
    Problem problem = random_problem(rng, drawn_sizes(rng, q_len, k_len));
    problem.form.causal = true;
    attend(problem);
    require_right(probe, problem);
  }
}

void windows(Probe& probe) {
  struct Window {
    std::int64_t left, right;
    bool causal;
  };
  for (const Window& made :
       {Window{0, 0, false}, Window{1, 0, true}, Window{40, 0, false}, Window{63, 0, true},
        Window{64, 64, false}, Window{-1, 5, false}, Window{17, -1, false}, Window{3, 31, true},
        Window{kFarthest, 7, false}, Window{9, kFarthest, false}}) {
    Rng rng = probe.begin_case(
        fmt::format("window {}..{}{}", made.left, made.right, made.causal ? ", causal" : ""));
    Sizes sizes = drawn_sizes(rng, near_tile_edge(rng, 65, 170), near_tile_edge(rng, 65, 170));
    if (rng.chance(0.5)) sizes.k_len = sizes.q_len;
    Problem problem = random_problem(rng, sizes);
    problem.form.window_left = made.left;
    problem.form.window_right = made.right;
    problem.form.causal = made.causal;
    attend(problem);
    require_right(probe, problem);
  }
  for (const bool causal : {false, true}) {
    Rng rng = probe.begin_case(fmt::format("one query{}", causal ? ", causal" : ""));
    Problem problem = random_problem(rng, drawn_sizes(rng, 1, near_tile_edge(rng, 65, 170)));
    problem.form.window_left = rng.integer(1, 60);
    problem.form.causal = causal;
    attend(problem);
    require_right(probe, problem);
  }
}

// Queries that see nothing: lse is -infinity there, and it is the lse that counts. The oracle's
// bound is 0 for them, so that anything but 0 is an error.
void empty_rows(Probe& probe) {
  Rng above = probe.begin_case("causal, more queries than keys");
  Problem causal =
      random_problem(above, drawn_sizes(above, above.integer(150, 220), above.integer(20, 100)));
  causal.form.causal = true;
  attend(causal);
  require_right(probe, causal);

  Rng before = probe.begin_case("windows that end before the first key");
  Problem window = random_problem(before, drawn_sizes(before, before.integer(100, 150), 60));
  window.form.window_right = before.integer(0, 20);
  window.form.window_left = before.integer(0, 20);
  attend(window);
  require_right(probe, window);

  Rng none = probe.begin_case("batch entries without keys");
  Sizes sizes = drawn_sizes(none, none.integer(60, 130), none.integer(60, 130));
  sizes.batch = 3;
  Problem empty = random_problem(none, sizes);
  const auto length = static_cast<std::int32_t>(sizes.k_len);
  empty.form.kv_len = {0, length, 0};
  if (none.chance(0.5)) empty.form.kv_len = {length / 2, 0, length};
  empty.form.causal = none.chance(0.5);
  attend(empty);
  require_right(probe, empty);

  Rng given = probe.begin_case("lse of -infinity in some rows");
  Problem marked =
      random_problem(given, drawn_sizes(given, given.integer(70, 140), given.integer(70, 140)));
  marked.form.causal = given.chance(0.5);
  attend(marked);
  for (float& lse : marked.lse)
    if (given.chance(0.3)) lse = -kit::kInfinity;
  require_right(probe, marked);

  // Queries before the first key that exists, whose own place is among those that do not.
  Rng late = probe.begin_case("its own key alone, behind padding");
  Problem diagonal =
      random_problem(late, drawn_sizes(late, late.integer(100, 150), late.integer(70, 90)));
  diagonal.form.window_left = 0;
  diagonal.form.causal = late.chance(0.5);
  if (!diagonal.form.causal) diagonal.form.window_right = 0;
  diagonal.form.kv_start.assign(static_cast<std::size_t>(diagonal.form.batch),
                                static_cast<std::int32_t>(late.integer(20, 60)));
  attend(diagonal);
  require_right(probe, diagonal);

  for (const auto& [mask, unseen] :
       {std::pair{"causal", &causal}, {"window", &window}, {"its own key alone", &diagonal}}) {
    Rng finite = probe.begin_case(fmt::format("any lse where nothing is seen, {}", mask));
    for (float& lse : unseen->lse)
      if (std::isinf(lse)) lse = kit::one_of(finite, {0.0f, -1e3f, 1e3f, -1e30f, 1e30f});
    require_right(probe, *unseen);
  }
}

/// NaN, infinity and huge numbers in all keys that do not exist.
void spoil_missing_keys(Problem& problem, Rng& rng) {
  for (kit::Tensor* tensor : {&problem.k, &problem.v})
    kit::for_each_missing_key(*tensor, problem.form, [&](std::span<float> row) {
      std::ranges::fill(row, kit::one_of(rng, {kit::kNan, kit::kInfinity, 1e30f}));
    });
}

/// The same arrays with other lists in each call, as while a text is written: of all else that is
/// asked, nothing differs.
void require_growing_cache(Probe& probe) {
  Rng rng = probe.begin_case("more keys exist in each call");
  Sizes sizes = drawn_sizes(rng, rng.integer(2, 20), rng.integer(140, 160));
  sizes.batch = 1;
  Problem problem = random_problem(rng, sizes);
  problem.form.causal = rng.chance(0.5);
  const auto len = static_cast<std::int32_t>(rng.integer(20, 60));
  const auto all = static_cast<std::int32_t>(sizes.k_len);
  constexpr std::int32_t kSecond = 1;
  for (const auto& [start, existing] :
       {std::pair{0, len}, {0, len + 1}, {kSecond, len + 1}, {kSecond, all - kSecond}}) {
    problem.form.kv_len = {existing};
    problem.form.kv_start = {start};
    attend(problem);
    require_right(probe, problem);
  }
}

void existing_keys(Probe& probe) {
  for (int n = 0; n < 5; ++n) {
    Rng rng = probe.begin_case(fmt::format("padded keys {}", n));
    const bool one_query = n == 4;
    Sizes sizes = drawn_sizes(rng, one_query ? 1 : rng.integer(40, 150), rng.integer(130, 180));
    sizes.batch = 3;
    sizes.q_heads = sizes.kv_heads;
    Problem problem = random_problem(rng, sizes);
    for (std::int64_t b = 0; b < sizes.batch; ++b) {
      const std::int64_t start = n == 0 ? 0 : rng.integer(one_query ? 1 : 0, 100);
      const std::int64_t rest = sizes.k_len - start;
      problem.form.kv_start.push_back(static_cast<std::int32_t>(start));
      problem.form.kv_len.push_back(static_cast<std::int32_t>(rng.integer(1, rest)));
    }
    if (n == 0) problem.form.kv_start.clear();
    if (n == 3) problem.form.kv_len.clear();  // padding on the left only
    problem.form.causal = n != 1;
    if (n == 1) problem.form.window_left = kFarthest;
    if (n == 2) problem.form.window_left = rng.integer(0, 60);
    spoil_missing_keys(problem, rng);
    attend(problem);
    require_right(probe, problem);
  }
  require_growing_cache(probe);
}

// Keys that exist and that nobody sees, and keys that do not exist, still have gradients: zeros,
// which must be written.
void unseen_keys(Probe& probe) {
  for (const bool padded : {false, true}) {
    Rng rng = probe.begin_case(padded ? "padding on both sides" : "before every window");
    Problem problem =
        random_problem(rng, drawn_sizes(rng, rng.integer(10, 60), rng.integer(230, 260)));
    problem.form.causal = padded || rng.chance(0.5);
    if (padded) {
      const auto batch = static_cast<std::size_t>(problem.form.batch);
      problem.form.kv_start.assign(batch, static_cast<std::int32_t>(rng.integer(1, 70)));
      problem.form.kv_len.assign(batch, static_cast<std::int32_t>(rng.integer(110, 150)));
      spoil_missing_keys(problem, rng);
    } else {
      problem.form.window_left = rng.integer(0, 40);
    }
    attend(problem);
    require_right(probe, problem);
  }
}

// Finite garbage where no query may look, and in queries that may not reach the later keys: the
// other gradients are as small as ever, and so are their tolerances.
void causal_isolation(Probe& probe) {
  Rng rng = probe.begin_case("garbage behind the diagonal");
  const std::int64_t length = rng.integer(130, 200);
  Problem problem = random_problem(rng, drawn_sizes(rng, length, length));
  problem.form.causal = true;
  const std::int64_t border = rng.integer(65, length - 2);
  const auto enlarge = [&](kit::Tensor& tensor, std::int64_t first, std::int64_t last, float by) {
    kit::for_each_row(tensor, [&](std::span<float> row, auto, auto, auto n) {
      if (n < first || n >= last) return;
      for (float& number : row) number *= by;
    });
  };
  enlarge(problem.k, border, length, 40);
  enlarge(problem.v, border, length, 1e6f);
  enlarge(problem.dout, 0, border, 1e5f);
  attend(problem);
  require_right(probe, problem);
}

}  // namespace

std::vector<Check> masks_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"causal_flag", "one of causal and full attention forgotten, tiles dropped at the diagonal",
        correctness, 2, critical},
       causal_flag},
      {{"unequal_lengths", "the causal diagonal at the wrong end", correctness, 2, critical},
       unequal_lengths},
      {{"empty_rows", "exp(s - -inf) in rows that see no key", correctness, 2, critical},
       empty_rows},
      {{"existing_keys", "padding that enters sums, NaN in keys that do not exist", correctness, 2,
        critical},
       existing_keys},
      {{"causal_isolation", "a mask with rows and columns exchanged", correctness, 1, critical},
       causal_isolation},
      {{"unseen_keys", "gradients of keys that nobody sees left unwritten", correctness, 1,
        critical},
       unseen_keys},
      {{"windows", "a window that is one key off", correctness, 1, major}, windows},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
