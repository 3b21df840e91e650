// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "cache.h"
#include "harness/grading/grader.h"
#include "long_books.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Numbers that 16 bits do not hold, and a little more.
constexpr std::int64_t kLarge = (1 << 16) + 300;

/// One head, keys and values of one number: only what is large costs anything.
Setup thin_setup(KvStored stored, int threads) {
  Setup setup{.stored = stored, .heads = 1, .key_dim = 1, .value_dim = 1, .group = 1};
  setup.options.threads = threads;
  return setup;
}

/// None near 0: scores that are all but equal round the same way every time, and then a plain sum
/// of thousands errs by more than the contract allows.
void draw_steep_queries(const Cache& cache, Rng& rng, Problem& problem) {
  draw_queries(rng, cache.setup(), cache.contents(), problem);
  for (float& x : problem.q) x = std::copysign(std::max(1.0f, std::abs(x)), x);
}

/// Where there are several threads, also with a window and a range of keys; and again, since they
/// may share what is large.
void ask_large(Cache& cache, Rng& rng, const Ids& which, const Ids& queries) {
  Problem problem;
  problem.which = which;
  problem.queries = queries;
  problem.q_heads = 1;
  const bool masked = cache.setup().options.threads > 1;
  if (masked) problem.window = kLarge - 20;
  for (const std::int64_t s : which) {
    if (!masked) continue;
    problem.key_begin.push_back(std::min<std::int64_t>(7, cache.length(s)));
    problem.key_end.push_back(cache.length(s));
  }
  draw_steep_queries(cache, rng, problem);
  cache.require_right_again(problem, masked ? 1 : 0);
}

// As many keys as whole tiles have, from a tile's border on.
void ask_whole_tiles(Cache& cache, Rng& rng) {
  for (const auto& [begin, end] : {std::array{0, 2048}, {4096, 8192}}) {
    Problem problem;
    problem.which = {0};
    problem.queries = {1};
    problem.q_heads = 16;
    problem.key_begin = {begin};
    problem.key_end = {end};
    draw_steep_queries(cache, rng, problem);
    cache.require_right(problem);
  }
}

// A sequence that is long; and one whose pages are.
void many_tokens(Probe& probe, KvStored stored, int threads) {
  for (const std::int64_t page_tokens : {std::int64_t{100}, kLarge + 1000}) {
    Rng rng = probe.begin_case(
        fmt::format("{}_{}_tokens_in_pages_of_{}", name_of(stored), kLarge, page_tokens));
    Setup setup = thin_setup(stored, threads);
    setup.page_tokens = page_tokens;
    setup.sequences = 2;
    setup.width = kLarge / page_tokens + 2;
    setup.pages = setup.width + 2;
    Cache cache(probe, setup, rng.seed());
    cache.append({{0, draw_many_tokens(rng, setup, kLarge)}, {1, draw_many_tokens(rng, setup, 5)}});
    cache.append({{0, draw_many_tokens(rng, setup, 9)}, {1, draw_many_tokens(rng, setup, 5)}});
    ask_large(cache, rng, {0, 1}, {3, 1});
    ask_whole_tiles(cache, rng);
    cache.read(0, kLarge + 2, 7);
    // As many slots of a page are copied.
    cache.free(1);
    cache.fork(0, 1);
    cache.append(1, draw_many_tokens(rng, setup, 2));
    cache.require_contents();
  }
}

// Pages that one call takes all, in whatever order: the last one behind 65,536 others.
void many_pages(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_pages", kLarge));
  Setup setup = thin_setup(KV_F32, threads);
  setup.page_tokens = 1;
  setup.sequences = 2;
  setup.pages = setup.width = kLarge;
  setup.options.renumber_pages = true;
  Cache cache(probe, setup, rng.seed());
  cache.append(
      {{1, draw_many_tokens(rng, setup, 3)}, {0, draw_many_tokens(rng, setup, kLarge - 3)}});
  ask_large(cache, rng, {1, 0}, {1, 2});
}

// Pages of more bytes than 32 bits hold. The question needs no pool.
void large_pages(Probe& probe, int threads) {
  for (const KvStored stored : kAllStored) {
    probe.begin_case(fmt::format("{}_bytes_of_large_pages", name_of(stored)));
    Setup setup{.stored = stored, .heads = 4, .key_dim = 128, .value_dim = 128};
    setup.options.threads = threads;
    for (const int bits : {20, 24, 40}) {
      setup.page_tokens = std::int64_t{1} << bits;
      require_page_bytes(probe, setup);
    }
  }
}

// More pages of a sequence than 16 bits count; and a sequence that is behind as many others.
void many_to_fork_and_cut(Probe& probe, int threads) {
  for (const bool wide : {true, false}) {
    Rng rng = probe.begin_case(
        fmt::format("forks_and_cuts_of_{}_{}", kLarge, wide ? "pages" : "sequences"));
    Setup setup = thin_setup(KV_F32, threads);
    setup.page_tokens = 1;
    setup.sequences = wide ? 3 : kLarge;
    setup.width = wide ? kLarge : 3;
    setup.pages = kLarge + 3;
    const std::int64_t last = setup.sequences - 1;
    Ids lengths(static_cast<std::size_t>(setup.sequences));
    lengths.front() = 2;
    lengths.back() = setup.width;
    LongBooks books(probe, state_of(rng, setup, lengths));
    books.fork(last, last - 1);
    books.cut(last, 1);
    books.cut(last - 1, 0);
  }
}

// Sequences that are many, and lists that name all of them.
void many_sequences(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_sequences", kLarge));
  Setup setup = thin_setup(KV_F32, threads);
  setup.sequences = kLarge;
  setup.width = 2;
  setup.pages = 600;
  Cache cache(probe, setup, rng.seed());
  std::vector<Chunk> chunks;
  Ids which;
  Ids queries;
  for (std::int64_t s = 0; s < kLarge; ++s) {
    const bool some = s < 200 || s >= kLarge - 200;
    chunks.push_back({s, draw_many_tokens(rng, setup, some ? rng.integer(1, 12) : 0)});
    which.push_back(s);
    queries.push_back(some ? rng.integer(1, 2) : 0);
  }
  cache.append(chunks);
  ask_large(cache, rng, which, queries);
  cache.read(kLarge - 1);
}

// A chunk of so many new tokens, and a query for each.
void many_queries(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_queries", kLarge));
  Setup setup = thin_setup(KV_F32, threads);
  setup.page_tokens = 128;
  setup.sequences = 1;
  setup.pages = setup.width = kLarge / 128 + 1;
  Cache cache(probe, setup, rng.seed());
  cache.append(0, draw_many_tokens(rng, setup, kLarge));
  Problem problem;
  problem.which = {0};
  problem.queries = {kLarge};
  problem.q_heads = 1;
  problem.window = threads > 1 ? 9 : 0;
  draw_queries(rng, setup, cache.contents(), problem);
  cache.require_right(problem);
}

// A page that hundreds of sequences share: 8 bits do not hold their number, nor that of the copies
// that one call makes.
void many_users(Probe& probe, int threads) {
  Rng rng = probe.begin_case("users_of_a_page");
  Setup setup = thin_setup(KV_F32, threads);
  setup.sequences = 300;
  setup.width = 3;
  setup.pages = 320;
  Cache cache(probe, setup, rng.seed());
  cache.append(0, draw_many_tokens(rng, setup, 5));
  for (std::int64_t s = 1; s < setup.sequences; ++s) {
    cache.fork(0, s);
    if (s == 128 || s == 200 || s == 255)
      cache.append(s, draw_many_tokens(rng, setup, 1));  // one of 129, 200 and 254 users
  }
  std::vector<Chunk> chunks;
  for (const std::int64_t s : random_order(rng, setup.sequences))
    chunks.push_back({s, draw_many_tokens(rng, setup, 2)});
  cache.append(chunks);
  cache.require_contents();
}

// So many that a narrow counter of them says 1, 0, or less than 0: what writes to the page, leaves
// it and joins it.
void very_many_users(Probe& probe, int threads) {
  for (const std::int64_t users : {257, 40'000, 65'537}) {
    Rng rng = probe.begin_case(fmt::format("{}_users_of_a_page", users));
    Setup setup = thin_setup(KV_F32, threads);
    setup.sequences = users + 1;
    setup.width = 1;
    Cache cache(probe, setup, rng.seed());
    cache.append(0, draw_many_tokens(rng, setup, 5));
    cache.fork_by_hand(0, 1, users - 1);
    cache.append(users - 1, draw_many_tokens(rng, setup, 1));
    cache.fork(0, users);
    cache.truncate(users / 2, 4);
    cache.free(1);
    cache.append(0, draw_many_tokens(rng, setup, 2));
    ask_large(cache, rng, {0, users / 2, users - 1, users}, {1, 1, 1, 1});
  }
}

// Lengths that 32 bits do not hold, of few pages. Cuts are short: to go through the tokens that are
// dropped one by one is slow, but not wrong.
void very_long_sequences(Probe& probe, int threads) {
  constexpr std::int64_t kPage = std::int64_t{1} << 29;
  for (const auto& [tokens, page_tokens] : {std::array{4 * kPage + 5, kPage},
                                            {8 * kPage + 3, kPage},
                                            {32 * kPage + 5, 16 * kPage + 1}}) {
    Rng rng = probe.begin_case(fmt::format("{}_tokens_in_pages_of_{}", tokens, page_tokens));
    Setup setup = thin_setup(KV_F32, threads);
    setup.page_tokens = page_tokens;
    setup.width = 12;
    setup.pages = 3 * setup.width;
    // The low 32 bits of the last length are those of an empty sequence.
    LongBooks books(probe, state_of(rng, setup, {tokens, 0, 3, 8 * kPage}));
    books.fork(0, 1);
    books.cut(1, tokens);
    books.cut(1, tokens - 2);
    books.cut(0, tokens + 1);
    books.cut(0, tokens - 1 - tokens % page_tokens);
    books.cut(2, 8 * kPage + 2);
    books.cut(2, 0);
    books.fork(1, 3);
    books.fork(1, 2);
    books.cut(3, 8 * kPage - 1);
  }
}

// Pages that lie beyond 2^31 and 2^32 bytes of the pool, and behind 2^16 others, the only free
// ones: each is written, copied from, copied to, and read.
void far_pages(Probe& probe, KvStored stored, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_pages_beyond_32_bits", name_of(stored)));
  Setup setup = thin_setup(stored, threads);
  // As large as they may be where 2^16 of them are 2^31 bytes.
  setup.page_tokens = 1024;
  setup.page_tokens = (std::int64_t{1} << 25) / page_budget(setup) - rng.integer(0, 9);
  setup.far_pages = (std::int64_t{1} << 31) / require_page_bytes(probe, setup) + 1;
  setup.pages = (kFarParts - 1) * setup.far_pages + 1;
  setup.width = rng.integer(400, 500);
  setup.sequences = kFarParts + setup.pages / setup.width + 1;
  Cache cache(probe, setup, rng.seed());
  cache.hold_far_pages(kFarParts);
  cache.append(0, draw_many_tokens(rng, setup, 5));
  for (std::int64_t s = 1; s < kFarParts; ++s) {
    cache.fork(s - 1, s);
    cache.append(s, draw_many_tokens(rng, setup, 2));
  }
  // The last page that was taken has only been copied to.
  cache.free(0);
  cache.fork(kFarParts - 1, 0);
  cache.append(0, draw_many_tokens(rng, setup, 3));
  cache.require_right(rng, {2, 0, 1}, 1, 1);
  for (std::int64_t s = 0; s < kFarParts; ++s) cache.read(s);
}

// Tokens behind so many that 32 bits do not hold their number, of which nobody is asked: their
// pages are not there. A fork goes on for itself.
void far_tokens(Probe& probe, int threads) {
  Rng rng = probe.begin_case("tokens_beyond_32_bits");
  Setup setup = thin_setup(rng.chance(0.5) ? KV_F32 : KV_INT8, threads);
  setup.page_tokens = rng.integer(90'000, 110'000);
  setup.far_pages = (std::int64_t{1} << 31) / setup.page_tokens + 2;
  setup.pages = setup.width = (kFarParts - 1) * setup.far_pages + 1;
  setup.sequences = 2;
  State held(setup, require_page_bytes(probe, setup));
  held.hold_far_pages(0);
  const std::int64_t before = held.lengths[0];
  LongBooks books(probe, std::move(held));
  std::vector<Tokens> behind(2);
  const auto grow = [&](std::size_t s, std::int64_t tokens) {
    const Tokens fresh = draw_many_tokens(rng, setup, tokens);
    books.append({{std::int64_t(s), fresh}});
    behind[s].append(fresh);
  };
  grow(0, 5);
  books.fork(0, 1);
  behind[1] = behind[0];
  grow(1, 4);
  grow(0, 3);
  books.cut(1, before + 7);
  behind[1].resize(setup, 7);
  grow(1, 2);
  for (const std::int64_t s : {0, 1}) {
    Tokens& known = behind[static_cast<std::size_t>(s)];
    ReadCall read(books.state(), s, before, known.count(setup));
    probe.run_ok(read);
    probe.require(stored_miss(setup, s, before, read.tokens(), known));
    known = read.tokens();
  }
  for (const bool by_window : {true, false}) {
    Problem problem;
    problem.which = {1, 0};
    problem.queries = {2, 3};
    problem.q_heads = 1;
    if (by_window) problem.window = 4;
    if (!by_window) problem.key_begin = {2, 0}, problem.key_end = {9, 7};
    draw_queries(rng, setup, behind, problem);
    const Expected expected = expect(setup, behind, problem);
    for (Ids* range : {&problem.key_begin, &problem.key_end})
      for (std::int64_t& key : *range) key += before;
    AttendCall call(books.state(), problem);
    probe.run_ok(call);
    require_close(probe, call.answer(), expected);
  }
}

void large_merges(Probe& probe, int threads) {
  CallOptions options;
  options.threads = threads;
  for (const auto& [parts, rows, dim] : {std::array{kLarge, std::int64_t{2}, std::int64_t{16}},
                                         {2, kLarge, 1},
                                         {2, 2, kLarge},
                                         {1024, 2, 4},
                                         {2, 3, 4096},
                                         {2, kUnevenRows, 53}}) {
    Rng rng = probe.begin_case(fmt::format("merge_of_{}_parts_{}_rows_{}", parts, rows, dim));
    const Parts drawn = draw_parts(rng, parts, rows, dim, 2, 0.2);
    const Answer first = require_right(probe, drawn, true, options);
    if (threads > 1) require_same_again(probe, drawn, options, first, 3);
  }
}

/// Each size beyond 2^16 by itself.
void ask_large_sizes(Probe& probe, int threads) {
  for (const KvStored stored : kAllStored) many_tokens(probe, stored, threads);
  for (const KvStored stored : kAllStored) far_pages(probe, stored, threads);
  far_tokens(probe, threads);
  many_pages(probe, threads);
  large_pages(probe, threads);
  many_to_fork_and_cut(probe, threads);
  many_sequences(probe, threads);
  many_queries(probe, threads);
  many_users(probe, threads);
  very_many_users(probe, threads);
  very_long_sequences(probe, threads);
  large_merges(probe, threads);
}

void large_sizes(Probe& probe) {
  ask_large_sizes(probe, 1);
}

void large_sizes_in_threads(Probe& probe) {
  ask_large_sizes(probe, 5);
}

}  // namespace

std::vector<Check> sizes_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"large_sizes", "numbers of tokens, pages, sequences, queries or parts cut to 16 bits",
        robustness, 1, major},
       large_sizes},
      {{"large_sizes_in_threads", "the same, masked, and shared among threads", robustness, 0.5,
        major},
       large_sizes_in_threads},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
