// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cache.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// A key that lies ahead of a query is the one that it would look at most.
void causal_chunk(Probe& probe) {
  for (const std::int64_t before : {0, 5, 16}) {
    Rng rng = probe.begin_case(fmt::format("after_{}_tokens", before));
    Setup setup = one_sequence(before + 12);
    Cache cache(probe, setup, rng.seed());
    const std::int64_t chunk = rng.integer(3, 12);
    Tokens tokens = draw_tokens(rng, setup, before + chunk);
    // Keys grow along the chunk and queries are their mean direction: what is ahead scores higher.
    for (std::int64_t t = 0; t < before + chunk; ++t)
      for (std::int64_t i = 0; i < setup.key_numbers(); ++i)
        tokens.k[static_cast<std::size_t>(t * setup.key_numbers() + i)] +=
            0.4f * static_cast<float>(t - before);
    cache.append(0, tokens);
    Problem problem = draw_problem(rng, setup, cache.contents(), {0}, chunk, 2);
    for (float& x : problem.q) x = static_cast<float>(rng.uniform(0.5, 2));
    cache.require_right(problem);
    problem.scale = -problem.scale;
    cache.require_right(problem);
  }
}

// No keys, no result: zeros and -infinity, next to sequences that have some.
void empty_sequences(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(fmt::format("{}_some_empty", name_of(stored)));
    Setup setup{.stored = stored};
    Cache cache(probe, setup, rng.seed());
    cache.require_right(rng, {2, 0, 1}, 1, 2);
    cache.append({{1, draw_tokens(rng, setup, 9)}, {3, draw_tokens(rng, setup, 2)}});
    cache.require_right(rng, {2, 1, 0, 3}, 1, 4);
    probe.begin_case(fmt::format("{}_more_queries_than_tokens", name_of(stored)));
    cache.require_right(rng, {3, 1}, rng.integer(3, 6), 4);
  }
  // Of so many heads that threads may share the few keys of rows, of which some see none.
  for (const KvStored stored : kAllStored)
    for (const std::int64_t heads : {32, 64}) {
      Rng rng = probe.begin_case(fmt::format("{}_{}_heads_in_threads", name_of(stored), heads));
      Setup setup = one_sequence(640 / heads);
      setup.stored = stored;
      setup.heads = heads;
      setup.options.threads = 3;
      Cache cache(probe, setup, rng.seed());
      cache.append(0, draw_many_tokens(rng, setup, 640 / heads));
      cache.require_right(rng, {0}, 640 / heads + rng.integer(3, 5), heads);
    }
  Rng rng = probe.begin_case("no_sequences");
  for (const KvStored stored : kAllStored) {
    Cache cache(probe, {.stored = stored, .sequences = 0}, rng.seed());
    cache.append(std::vector<Chunk>{});
    cache.attend(Problem{});
  }
  rng = probe.begin_case("freed");
  Setup setup;
  Cache cache(probe, setup, rng.seed());
  cache.append({{0, draw_tokens(rng, setup, 11)}, {1, draw_tokens(rng, setup, 4)}});
  cache.free(0);
  cache.require_right(rng, {0, 1}, 2, 2);
  rng = probe.begin_case("asked_often");
  require_freed_when_asked(probe, rng, kAllStored[rng.integer(0, 2)]);
}

void window_of_subnormal_values(Probe& probe) {
  constexpr std::int64_t kTokens = 20;
  Rng rng = probe.begin_case("subnormal_values");
  Cache cache = subnormal_cache(probe, rng, kTokens);
  Problem problem =
      draw_problem(rng, cache.setup(), cache.contents(), {0}, rng.integer(2, kTokens), 4);
  problem.window = 0;
  cache.require_right(problem);
}

// Values are one-hot in their position and all scores are equal: the result is the set of keys that
// was seen, written out.
void sliding_window(Probe& probe) {
  constexpr std::int64_t kWindow = 11;
  for (const std::int64_t tokens :
       {kWindow - 1, kWindow, kWindow + 1, kWindow + 2, 2 * kWindow + 3, 4 * kWindow}) {
    Rng rng = probe.begin_case(fmt::format("{}_tokens", tokens));
    Setup setup = one_sequence(tokens);
    setup.value_dim = tokens;
    setup.heads = 1;
    Cache cache(probe, setup, rng.seed());
    Tokens filled = draw_tokens(rng, setup, tokens);
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t d = 0; d < tokens; ++d)
        filled.v[static_cast<std::size_t>(t * tokens + d)] = t == d ? 1.0f : 0.0f;
    cache.append(0, filled);
    for (const std::int64_t window : {std::int64_t{0}, std::int64_t{1}, kWindow, tokens - 1}) {
      Problem problem = draw_problem(rng, setup, cache.contents(), {0},
                                     std::min<std::int64_t>(tokens, rng.integer(1, 9)), 2);
      problem.window = window;
      cache.require_right(problem);  // scores of all kinds
      std::ranges::fill(problem.q, 0.0f);
      cache.require_right(problem);  // equal scores
    }
  }
  window_of_subnormal_values(probe);
}

/// Tokens that hold `number` are left out by the window, or by the range of keys. They lie in one
/// page with the first that is seen, and in one vector of its slots.
void hide(Probe& probe, KvStored stored, bool by_window, float number) {
  Rng rng = probe.begin_case(fmt::format("{}_{}_{}", name_of(stored), number,
                                         by_window ? "before_the_window" : "outside_the_range"));
  Setup setup{.stored = stored, .page_tokens = by_window ? 16 : 5, .sequences = 2};
  // Values of whole vectors and groups, and others.
  if (by_window) setup.key_dim = setup.value_dim = setup.group = 32;
  Cache cache(probe, setup, rng.seed());
  const std::int64_t bad = 16 * rng.integer(0, 1) + rng.integer(2, 14);
  const std::int64_t good = rng.integer(8, 20);
  cache.append(0, constant_tokens(setup, bad, number));
  cache.append(0, draw_tokens(rng, setup, good));
  if (!by_window) cache.append(0, constant_tokens(setup, 3, number));
  cache.append(1, constant_tokens(setup, 9, number));
  cache.append(1, draw_tokens(rng, setup, good));
  Problem problem;
  problem.which = {0, 1, 0};
  problem.queries = {2, 1, 3};
  if (by_window) {
    problem.window = good - 3;
  } else {
    problem.key_begin = {bad, 9, bad + 1};
    problem.key_end = {bad + good, 9 + good - 1, bad + good - 1};
  }
  draw_queries(rng, setup, cache.contents(), problem);
  cache.require_right(problem);
}

// Tokens that the window or the range of keys leaves out may be NaN, or infinite.
void unseen_tokens(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const float number : {kit::kNan, kit::kInfinity, -kit::kInfinity})
      for (const bool by_window : {true, false}) hide(probe, stored, by_window, number);
}

}  // namespace

std::vector<Check> masks_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"causal_chunk", "queries that see what lies ahead of them", correctness, 2, critical},
       causal_chunk},
      {{"empty_sequences", "division by an empty sum", correctness, 2, critical}, empty_sequences},
      {{"sliding_window", "a window that is off by one", correctness, 2, critical}, sliding_window},
      {{"unseen_tokens", "NaN in tokens that no query sees", robustness, 1, major}, unseen_tokens},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
