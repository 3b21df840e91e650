// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>

#include "cache.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A long sequence beside short ones, and scores so far below zero that exp of them is 0. Where
/// threads share the keys of the long one, each may have a share of the others too, without keys.
void ask_far_below_zero(Probe& probe, KvStored stored, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_long_and_short_{}_threads", name_of(stored), threads));
  Setup setup{.stored = stored, .page_tokens = 16, .sequences = 3};
  setup.heads = 1;
  setup.options.threads = threads;
  setup.width = 80;
  setup.pages = 90;
  Cache cache(probe, setup, rng.seed());
  std::vector<Chunk> chunks;
  for (const std::int64_t length : {rng.integer(1'030, 1'200), std::int64_t{1}, std::int64_t{2}}) {
    Tokens tokens = draw_tokens(rng, setup, length);
    for (float& x : tokens.k) x = std::abs(x) + 0.5f;
    chunks.push_back({std::ssize(chunks), tokens});
  }
  cache.append(chunks);
  Problem problem = draw_problem(rng, setup, cache.contents(), random_order(rng, 3), 1, 2);
  for (float& x : problem.q) x = static_cast<float>(rng.uniform(-160, -40));
  cache.require_right(problem);
}

// Lengths around the borders of pages, zero among them, in an order of our choosing.
void ragged_batch(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    const Ids lengths{0, 1, 15, 16, 17, rng.integer(200, 260), rng.integer(300, 700), 33};
    Setup setup{.stored = stored,
                .key_dim = 32,
                .page_tokens = 16,
                .group = 32,
                .sequences = std::ssize(lengths)};
    setup.options.threads = 2;
    setup.width = 44;
    setup.pages = 80;
    Cache cache(probe, setup, rng.seed());
    const Ids order = random_order(rng, setup.sequences);
    std::vector<Chunk> chunks;
    for (const std::int64_t s : order)
      chunks.push_back({s, draw_tokens(rng, setup, lengths[static_cast<std::size_t>(s)])});
    cache.append(chunks);
    cache.require_right(rng, random_order(rng, setup.sequences), 1, 4);
    cache.require_right(rng, {order[3], order[0], order[3]}, 2, 2);
    Problem uneven = draw_problem(rng, setup, cache.contents(), random_order(rng, 8), 1, 4);
    for (std::int64_t& queries : uneven.queries) queries = rng.integer(0, 5);
    draw_queries(rng, setup, cache.contents(), uneven);
    cache.require_right(uneven);
    ask_far_below_zero(probe, stored, 4);
  }
}

// A sequence grows token by token, and every step sees all that came before it.
void decode_steps(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    const std::int64_t steps = stored == KV_F32 ? rng.integer(34, 42) : rng.integer(17, 25);
    Setup setup = one_sequence(steps);
    setup.stored = stored;
    setup.value_dim = 24;
    Cache cache(probe, setup, rng.seed());
    for (std::int64_t t = 0; t < steps; ++t) {
      cache.append(0, draw_tokens(rng, setup, 1));
      cache.require_right(rng, {0}, 1, 4);
    }
  }
}

// Keys of so little weight that it is nothing, but for values that make up for it, before and
// behind the key of most weight, whose values are zero. A weight is seen as long as it is more than
// the 1e-30 of all values that the contract forgives, times 24 roundings: exp(-75) is. exp(-110) is
// not: who weighs it as exp(-80) shows. And so where the values of that key are large: it weighs 1,
// and not exp(75) beside the first.
void faint_needles(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const double depth : {15, 25, 45, 75, 110}) {
      Rng rng = probe.begin_case(fmt::format("{}_exp_-{}", name_of(stored), depth));
      Setup setup = one_sequence(100);
      setup.stored = stored;
      const std::int64_t tokens = rng.integer(90, 100);
      const std::int64_t top = rng.integer(20, 70);
      Cache cache(probe, setup, rng.seed());
      Tokens filled = draw_tokens(rng, setup, tokens);
      for (float& x : filled.v) x *= 1e29f;
      const Tokens large = filled;
      std::fill_n(filled.v.begin() + top * setup.value_numbers(), setup.value_numbers(), 0.0f);
      // Every number of a key is the same: 1, and 0 for the top.
      std::ranges::fill(filled.k, 1.0f);
      std::fill_n(filled.k.begin() + top * setup.key_numbers(), setup.key_numbers(), 0.0f);
      cache.append(0, filled);
      Problem problem = draw_problem(rng, setup, cache.contents(), {0}, 1, 4);
      const double level = -depth / (problem.scale * double(setup.key_dim));
      for (float& x : problem.q) x = static_cast<float>(level * rng.uniform(0.98, 1));
      cache.require_right(problem);
      problem.key_end = {top + 1};
      cache.require_right(problem);
      problem.key_begin = {top};
      problem.key_end.clear();
      cache.require_right(problem);
      problem.key_begin.clear();
      cache.truncate(0, top);
      filled.v = large.v;
      cache.append(0, filled.part(setup, top, tokens - top));
      cache.require_right(problem);
    }
}

// Scores that rise late, where values are the largest that there may be: who lets its maximum lag
// behind by `rise` has sums of half the values times exp(rise), and these overflow from 14.2 on.
// The border lies behind whole tiles of keys, whatever their size is.
void late_rises(Probe& probe) {
  constexpr std::int64_t kTokens = 512;
  for (const KvStored stored : kAllStored)
    for (const double rise : {15, 20, 40}) {
      Rng rng = probe.begin_case(fmt::format("{}_scores_rise_by_{}", name_of(stored), rise));
      Setup setup = one_sequence(kTokens, 16);
      setup.stored = stored;
      setup.options.threads = rise == 20 ? 2 : 1;
      Cache cache(probe, setup, rng.seed());
      Tokens filled = constant_tokens(setup, kTokens, 1);
      for (float& x : filled.v) x = static_cast<float>(rng.uniform(0.9e30, 1e30));
      std::fill_n(filled.k.begin(), std::ssize(filled.k) / 2, 0.0f);
      cache.append(0, filled);
      Problem problem = draw_problem(rng, setup, cache.contents(), {0}, 2, 4);
      const double level = rise / (problem.scale * double(setup.key_dim));
      for (float& x : problem.q) x = static_cast<float>(level * rng.uniform(0.98, 1));
      cache.require_right(problem);
    }
}

void subnormal_needles(Probe& probe) {
  constexpr std::int64_t kTokens = 30;
  Rng rng = probe.begin_case("subnormal_values");
  Cache cache = subnormal_cache(probe, rng, kTokens);
  for (int turn = 0; turn < 4; ++turn) {
    const std::int64_t seen = rng.integer(0, kTokens - 1);
    Problem problem = draw_problem(rng, cache.setup(), cache.contents(), {0}, 1, 4);
    problem.key_begin = {seen};
    problem.key_end = {seen + 1};
    cache.require_right(problem);
  }
}

// Each key in turn is the one that counts: half of the weight and more is its own.
void needles(Probe& probe) {
  for (const std::int64_t page_tokens : {4, 16}) {
    Rng rng = probe.begin_case(fmt::format("pages_of_{}", page_tokens));
    Setup setup = one_sequence(80, page_tokens);
    setup.heads = 3;
    setup.key_dim = 64;
    Cache cache(probe, setup, rng.seed());
    const std::int64_t tokens = near_to(rng, 67);
    cache.append(0, draw_tokens(rng, setup, tokens));
    const std::vector<float>& k = cache.contents()[0].k;
    for (std::int64_t j = 0; j < tokens; ++j) {
      Problem problem = draw_problem(rng, setup, cache.contents(), {0}, 1, 2 * setup.heads);
      problem.scale = 0.25f;
      for (std::int64_t i = 0; i < std::ssize(problem.q); ++i) {
        const std::int64_t kv_head = i / setup.key_dim / 2;
        problem.q[static_cast<std::size_t>(i)] = k[static_cast<std::size_t>(
            (j * setup.heads + kv_head) * setup.key_dim + i % setup.key_dim)];
      }
      cache.require_right(problem);
    }
  }
  subnormal_needles(probe);
  faint_needles(probe);
  late_rises(probe);
}

// Where every score is far below zero, a slot that is taken for a key of zeros wins over all.
void negative_scores(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    Setup setup = one_sequence(30);
    setup.stored = stored;
    Cache cache(probe, setup, rng.seed());
    for (const std::int64_t grow : {3, 6, 2, 7, 9}) {
      Tokens tokens = draw_tokens(rng, setup, grow);
      for (float& x : tokens.k) x = std::abs(x) + 0.5f;
      for (float& x : tokens.v) x *= 1e29f;  // too large to be weighed by anything above 1
      cache.append(0, tokens);
      Problem problem = draw_problem(rng, setup, cache.contents(), {0}, 2, 4);
      for (float& x : problem.q) x = static_cast<float>(rng.uniform(-8, -2));
      cache.require_right(problem);
      for (float& x : problem.q) x *= 20;  // so far below that exp of them is 0
      cache.require_right(problem);
      for (float& x : problem.q) x = -x;  // so far apart that exp of what is between is infinite
      problem.scale = -problem.scale;
      cache.require_right(problem);
    }
    ask_far_below_zero(probe, stored, 8);
  }
}

// Of n equal keys, lse is their score plus ln n: natural, scaled, and with the maximum put back.
void lse_of_equal_keys(Probe& probe) {
  for (const std::int64_t tokens : {1, 2, 100, 1000}) {
    Rng rng = probe.begin_case(fmt::format("{}_keys", tokens));
    Setup setup = one_sequence(tokens);
    Cache cache(probe, setup, rng.seed());
    const Tokens one = draw_tokens(rng, setup, 1);
    Tokens filled;
    for (std::int64_t t = 0; t < tokens; ++t) filled.append(one);
    filled.v = draw_tokens(rng, setup, tokens).v;
    cache.append(0, filled);
    for (const double size : {0.0, 1.0, 30.0, -30.0, 2000.0}) {
      Problem problem = draw_problem(rng, setup, cache.contents(), {0}, 1, 2);
      for (std::size_t i = 0; i < problem.q.size(); ++i)
        problem.q[i] = static_cast<float>(size) * one.k[i];
      cache.require_right(problem);
    }
  }
}

}  // namespace

std::vector<Check> values_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"ragged_batch", "one sequence's length taken for another's", correctness, 3, critical},
       ragged_batch},
      {{"decode_steps", "the newest token missed, or one that is not there yet seen", correctness,
        2, critical},
       decode_steps},
      {{"needles", "keys that no thread, lane or page visits", correctness, 2, critical}, needles},
      {{"negative_scores", "padding that scores zero, or a maximum of something else", correctness,
        2, critical},
       negative_scores},
      {{"lse_of_equal_keys", "lse in another base, unscaled, or without its maximum", correctness,
        1, critical},
       lse_of_equal_keys},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
