#include <cmath>
#include <fmt/format.h>

#include "cache.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Setup one_sequence(std::int64_t tokens) {
  Setup setup;
  setup.sequences = 1;
  setup.pages = setup.width = (tokens + setup.page_tokens - 1) / setup.page_tokens;
  return setup;
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
      cache.require_attention(rng, {0}, 1, 4);
    }
  }
}

// Lengths around the borders of pages, zero among them, in an order of our choosing.
void ragged_batch(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    const Ids lengths{0, 1, 15, 16, 17, rng.integer(200, 260), rng.integer(300, 700), 33};
    Setup setup;
    setup.stored = stored;
    setup.page_tokens = 16;
    setup.key_dim = 32;
    setup.group = 32;
    setup.sequences = std::ssize(lengths);
    setup.threads = 2;
    setup.width = 44;
    setup.pages = 80;
    Cache cache(probe, setup, rng.seed());
    const Ids order = random_order(rng, setup.sequences);
    std::vector<Chunk> chunks;
    for (const std::int64_t s : order)
      chunks.push_back({s, draw_tokens(rng, setup, lengths[static_cast<std::size_t>(s)])});
    cache.append(chunks);
    cache.require_attention(rng, random_order(rng, setup.sequences), 1, 4);
    cache.require_attention(rng, {order[3], order[0], order[3]}, 2, 2);
    Question uneven = ask_about(rng, setup, cache.contents(), random_order(rng, 8), 1, 4);
    for (std::int64_t& queries : uneven.queries) queries = rng.integer(0, 5);
    draw_queries(rng, setup, cache.contents(), uneven);
    cache.require_attention(uneven);
  }
}

// Each key in turn is the one that counts: half of the weight and more is its own.
void needles(Probe& probe) {
  for (const std::int64_t page_tokens : {4, 16}) {
    Rng rng = probe.begin_case(fmt::format("pages_of_{}", page_tokens));
    Setup setup;
    setup.page_tokens = page_tokens;
    setup.heads = 3;
    setup.key_dim = 64;
    setup.value_dim = 16;
    setup.sequences = 1;
    setup.pages = setup.width = 80 / page_tokens;
    Cache cache(probe, setup, rng.seed());
    const std::int64_t tokens = near_to(rng, 67);
    cache.append(0, draw_tokens(rng, setup, tokens));
    const std::vector<float>& k = cache.contents()[0].k;
    for (std::int64_t j = 0; j < tokens; ++j) {
      Question question = ask_about(rng, setup, cache.contents(), {0}, 1, 2 * setup.heads);
      question.scale = 0.25f;
      for (std::int64_t i = 0; i < std::ssize(question.q); ++i) {
        const std::int64_t kv_head = i / setup.key_dim / 2;
        question.q[static_cast<std::size_t>(i)] = k[static_cast<std::size_t>(
            (j * setup.heads + kv_head) * setup.key_dim + i % setup.key_dim)];
      }
      cache.require_attention(question);
    }
  }
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
      cache.append(0, tokens);
      Question question = ask_about(rng, setup, cache.contents(), {0}, 2, 4);
      for (float& x : question.q) x = static_cast<float>(rng.uniform(-8, -2));
      cache.require_attention(question);
      for (float& x : question.q) x *= 20;  // so far below that exp of them is 0
      cache.require_attention(question);
    }
  }
}

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
    Question question = ask_about(rng, setup, cache.contents(), {0}, chunk, 2);
    for (float& x : question.q) x = static_cast<float>(rng.uniform(0.5, 2));
    cache.require_attention(question);
    question.scale = -question.scale;
    cache.require_attention(question);
  }
}

// Query heads share a kv head in runs, whatever the number of kv heads.
void head_groups(Probe& probe) {
  for (const std::int64_t ratio : {1, 2, 3, 5, 8, 16, 32}) {
    Rng rng = probe.begin_case(fmt::format("{}_query_heads_each", ratio));
    Setup setup = one_sequence(40);
    setup.threads = 2;
    setup.heads = ratio == 16 ? 1 : rng.integer(2, 4) + (ratio == 3 ? 2 : 0);
    if (setup.heads == ratio) ++setup.heads;
    setup.stored = ratio % 2 == 0 ? KV_F32 : KV_INT8;
    Cache cache(probe, setup, rng.seed());
    cache.append(0, draw_tokens(rng, setup, rng.integer(20, 40)));
    cache.require_attention(rng, {0}, rng.integer(1, 3), setup.heads * ratio);
  }
}

void odd_dimensions(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const auto& [key, value, group] : {std::array{1, 1, 1},
                                            {46, 46, 46},
                                            {80, 40, 32},
                                            {33, 96, 5},
                                            {128, 7, 128},
                                            {40, 64, 16},
                                            {64, 64, 32},
                                            {256, 192, 64},
                                            {31, 112, 64}}) {
      Rng rng = probe.begin_case(
          fmt::format("{}_{}_{}_groups_of_{}", name_of(stored), key, value, group));
      Setup setup = one_sequence(35);
      setup.stored = stored;
      setup.key_dim = key;
      setup.value_dim = value;
      setup.group = group;
      setup.page_tokens = rng.chance(0.5) ? 16 : 7;
      Cache cache(probe, setup, rng.seed());
      cache.append(0, draw_tokens(rng, setup, rng.integer(17, 34)));
      cache.require_attention(rng, {0}, 2, 4);
    }
}

// No keys, no result: zeros and -infinity, next to sequences that have some.
void empty_sequences(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(fmt::format("{}_some_empty", name_of(stored)));
    Setup setup;
    setup.stored = stored;
    Cache cache(probe, setup, rng.seed());
    cache.require_attention(rng, {2, 0, 1}, 1, 2);
    cache.append({{1, draw_tokens(rng, setup, 9)}, {3, draw_tokens(rng, setup, 2)}});
    cache.require_attention(rng, {2, 1, 0, 3}, 1, 4);
    probe.begin_case(fmt::format("{}_more_queries_than_tokens", name_of(stored)));
    cache.require_attention(rng, {3, 1}, rng.integer(3, 6), 4);
  }
  Rng rng = probe.begin_case("freed");
  Setup setup;
  Cache cache(probe, setup, rng.seed());
  cache.append({{0, draw_tokens(rng, setup, 11)}, {1, draw_tokens(rng, setup, 4)}});
  cache.free(0);
  cache.require_attention(rng, {0, 1}, 2, 2);
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
      Question question = ask_about(rng, setup, cache.contents(), {0},
                                    std::min<std::int64_t>(tokens, rng.integer(1, 9)), 2);
      question.window = window;
      cache.require_attention(question);  // scores of all kinds
      std::ranges::fill(question.q, 0.0f);
      cache.require_attention(question);  // equal scores
    }
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
      Question question = ask_about(rng, setup, cache.contents(), {0}, 1, 2);
      for (std::size_t i = 0; i < question.q.size(); ++i)
        question.q[i] = static_cast<float>(size) * one.k[i];
      cache.require_attention(question);
    }
  }
}

}  // namespace

std::vector<Check> attention_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"ragged_batch", "one sequence's length taken for another's", correctness, 3, critical},
       ragged_batch},
      {{"decode_steps", "the newest token missed, or one that is not there yet seen", correctness,
        2, critical},
       decode_steps},
      {{"needles", "keys that no thread, lane or page visits", correctness, 2, critical}, needles},
      {{"negative_scores", "padding that scores zero", correctness, 2, critical}, negative_scores},
      {{"causal_chunk", "queries that see what lies ahead of them", correctness, 2, critical},
       causal_chunk},
      {{"head_groups", "query heads that read another head's keys", correctness, 2, critical},
       head_groups},
      {{"empty_sequences", "division by an empty sum", correctness, 2, critical}, empty_sequences},
      {{"sliding_window", "a window that is off by one", correctness, 2, critical}, sliding_window},
      {{"lse_of_equal_keys", "lse in another base, unscaled, or without its maximum", correctness,
        1, critical},
       lse_of_equal_keys},
      {{"odd_dimensions", "dimensions that no vector divides, and unequal ones", correctness, 1,
        major},
       odd_dimensions},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
