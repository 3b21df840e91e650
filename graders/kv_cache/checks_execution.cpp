// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fmt/format.h>

#include "cache.h"
#include "graders/kit/threads.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A little of everything.
void live(Cache& cache, Rng& rng) {
  const Setup& setup = cache.setup();
  cache.append({{0, draw_tokens(rng, setup, 13)}, {1, draw_tokens(rng, setup, 5)}});
  cache.require_right(rng, {1, 0}, 2, 4);
  cache.fork(0, 2);
  cache.free(0);
  cache.append({{2, draw_tokens(rng, setup, 4)}, {0, draw_tokens(rng, setup, 9)}});
  cache.truncate(1, 2);
  cache.append(1, draw_tokens(rng, setup, 7));
  cache.require_right(rng, {2, 1, 0}, 1, 4);
  cache.require_some_contents();
}

/// A step of decoding over caches of some length, with more work than one thread should have.
Setup busy_setup(Rng& rng, KvStored stored) {
  Setup setup{.stored = stored, .heads = 2};
  setup.key_dim = setup.value_dim = 64;
  setup.group = 64;
  setup.page_tokens = 16;
  setup.sequences = 3;
  setup.width = 64;
  setup.pages = 3 * setup.width;
  setup.options.threads = static_cast<int>(rng.integer(3, 4));
  return setup;
}

// Every call meets a process that has seen none of the others, and pages that have moved.
void state_with_caller(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    Setup setup{.stored = stored};
    setup.options.renumber_pages = setup.options.fresh_process = true;
    Cache cache(probe, setup, rng.seed());
    live(cache, rng);
  }
}

/// Three caches, two of one shape. One of them comes to hold a NaN; the others do not notice, and
/// the same problem has the same answer to the bit, whether an even or an odd number of calls lies
/// between.
void three_by_turns(Probe& probe) {
  Rng rng = probe.begin_case("by_turns");
  Setup small;
  Setup large;
  large.stored = KV_INT8;
  large.options.threads = 2;
  large.heads = 3;
  large.page_tokens = 5;
  large.key_dim = 20;
  Cache first(probe, small, rng.seed());
  Cache second(probe, large, rng.seed());
  Cache third(probe, small, rng.seed());
  for (int turn = 0; turn < 6; ++turn) {
    first.append(0, draw_tokens(rng, small, rng.integer(15, 19)));
    second.append(0, draw_tokens(rng, large, rng.integer(1, 9)));
    third.append(0, draw_tokens(rng, small, rng.integer(1, 9)));
    const Problem problem = draw_problem(rng, small, first.contents(), {0}, 1, 4);
    const Answer answer = first.require_right(problem);
    third.require_right(rng, {0}, 1, 4);
    second.require_right(rng, {0}, 1, 6);
    third.append(1, constant_tokens(small, 1, kit::kNan));
    third.attend(draw_problem(rng, small, first.contents(), {1}, 1, 4));
    for (int again = 0; again < 2; ++again)
      if (!same_bits(first.attend(problem), answer))
        first.fail("the same call gave other bits after calls on other caches");
  }
}

/// Two caches that differ in one size, by turns. Both come to hold the same lengths.
void differ_in(Probe& probe, const char* size, void (*change)(Setup&)) {
  Rng rng = probe.begin_case(fmt::format("another_{}", size));
  const Setup setup{.stored = KV_INT8, .page_tokens = 4, .group = 5};
  Setup changed = setup;
  change(changed);
  std::array<Cache, 2> both{Cache(probe, setup, rng.seed()), Cache(probe, changed, rng.seed())};
  const auto by_turns = [&](const auto& use) {
    for (Cache& cache : both) use(cache);
  };
  for (const std::int64_t tokens : {9, 3}) {
    by_turns([&](Cache& cache) {
      std::vector<Chunk> chunks;
      for (const std::int64_t s : {0, 1, 2})
        chunks.push_back({s, draw_tokens(rng, cache.setup(), tokens)});
      cache.append(chunks);
    });
    by_turns([&](Cache& cache) { cache.require_contents(); });
    for (int turn = 0; turn < 2; ++turn)
      by_turns([&](Cache& cache) { cache.require_right(rng, {2, 0, 1}, 2, 8); });
    by_turns([&](Cache& cache) { cache.fork(2, 3); });
    by_turns([&](Cache& cache) { cache.free(3); });
  }
}

/// Questions to one cache that differ in one thing, by turns.
void ask_otherwise(Probe& probe, KvStored stored) {
  Rng rng = probe.begin_case(fmt::format("{}_questions_by_turns", name_of(stored)));
  const Setup setup{.stored = stored};
  Cache cache(probe, setup, rng.seed());
  for (const std::int64_t s : {0, 1, 2}) cache.append(s, draw_tokens(rng, setup, 20));
  const Problem first = draw_problem(rng, setup, cache.contents(), {2, 0, 1}, 2, 4);
  std::vector<Problem> others(9, first);
  others[0].which = {1, 2, 0};
  others[1].queries = {3, 1, 2};
  others[2].key_begin = {5, 0, 9};
  others[3].key_end = {20, 11, 13};
  others[4].q_heads = 2;
  others[4].queries = {4, 4, 4};
  others[5].window = 6;
  others[6].scale = 2 * first.scale;
  others[7].scale = -first.scale;
  others[8].want_lse = false;
  for (const Problem& other : others) {
    cache.require_right(first);
    cache.require_right(other);
  }
}

// What is remembered of a cache, or of a question, and taken for that of another one.
void two_caches(Probe& probe) {
  three_by_turns(probe);
  differ_in(probe, "type", [](Setup& setup) { setup.stored = KV_INT4; });
  differ_in(probe, "number_of_heads", [](Setup& setup) { setup.heads = 4; });
  differ_in(probe, "key_dim", [](Setup& setup) { setup.key_dim = 15; });
  differ_in(probe, "value_dim", [](Setup& setup) { setup.value_dim = 15; });
  differ_in(probe, "page_size", [](Setup& setup) { setup.page_tokens = 3; });
  differ_in(probe, "group", [](Setup& setup) { setup.group = 6; });
  differ_in(probe, "number_of_pages", [](Setup& setup) { setup.pages = 31; });
  differ_in(probe, "number_of_sequences", [](Setup& setup) { setup.sequences = 5; });
  differ_in(probe, "table_width", [](Setup& setup) { setup.width = 15; });
  differ_in(probe, "number_of_threads", [](Setup& setup) { setup.options.threads = 3; });
  for (const KvStored stored : kAllStored) ask_otherwise(probe, stored);
}

// Arrays that are aligned to an element and no more, and end right before a page that faults.
void unaligned_pointers(Probe& probe) {
  for (const auto& [alignment, skew] :
       {Placement{4, 0}, {16, 4}, {16, 8}, {16, 12}, {32, 16}, {64, 32}})
    for (const KvStored stored : kAllStored) {
      Rng rng =
          probe.begin_case(fmt::format("{}_{}_bytes_after_{}", name_of(stored), skew, alignment));
      Setup setup{.stored = stored};
      setup.options.placement = {alignment, skew};
      setup.page_tokens = skew == 4 ? 16 : rng.integer(1, 17);
      setup.key_dim = rng.integer(9, 40);
      setup.value_dim = rng.integer(9, 40);
      // Whole vectors of twice what is promised, but for where they start.
      if (skew >= 16) setup.key_dim = setup.value_dim = 16 * rng.integer(1, 3);
      setup.group = rng.integer(4, 40);
      setup.width = 30;
      setup.pages = 50;
      Cache cache(probe, setup, rng.seed());
      live(cache, rng);
    }
  // Beside arrays that are aligned well.
  for (const char* array : {"lse", "part_lse"}) {
    Rng rng = probe.begin_case(fmt::format("{}_alone", array));
    Setup setup;
    setup.options.displaced = array;
    Cache cache(probe, setup, rng.seed());
    live(cache, rng);
    require_right(probe, draw_parts(rng, 3, 64, 16, 2, 0.2), true, setup.options);
  }
}

/// Attention that is work enough for threads to be counted; some of its rows are judged.
void limit_threads(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_threads_at_most", threads));
  Setup setup = busy_setup(rng, KV_F32);
  Cache cache(probe, setup, rng.seed());
  cache.append({{0, draw_many_tokens(rng, setup, rng.integer(990, 1000))},
                {1, draw_many_tokens(rng, setup, rng.integer(990, 1000))}});
  const Problem problem = draw_problem(rng, setup, cache.contents(), {1, 0}, 60, 8);
  Answer answer;
  kit::require_thread_limit(probe, threads, [&](int count) {
    cache.state().setup.options.threads = count;
    answer = cache.attend(problem);
  });
  const auto wanted = [&] { return rng.chance(1.0 / 8); };
  cache.require_close(answer, expect(setup, cache.stored_for(problem), problem, wanted));
}

/// The same of an append: small groups are the most work for each byte.
void limit_appending_threads(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_threads_at_most_append", threads));
  const std::int64_t tokens = std::int64_t{2500} * (2 * threads - 1);
  Setup setup = long_sequence(KV_INT4, tokens, 256);
  setup.group = 4;
  const State state(setup, require_page_bytes(probe, setup));
  AppendCall call(state, {{0, draw_many_tokens(rng, setup, tokens)}});
  kit::require_thread_limit(probe, threads, [&](int count) {
    call.args.shape.num_threads = count;
    probe.run_ok(call);
  });
}

/// The same of a merge.
void limit_merging_threads(Probe& probe, int threads) {
  Rng rng = probe.begin_case(fmt::format("{}_threads_at_most_merge", threads));
  const Parts parts = draw_parts(rng, 8, 1 << 18, 1, 1, 0.2);
  MergeCall call(parts);
  kit::require_thread_limit(probe, threads, [&](int count) {
    call.args.num_threads = count;
    probe.run_ok(call);
  });
}

void thread_limit(Probe& probe) {
  for (const int threads : {1, 3}) limit_threads(probe, threads);
  for (const int threads : {1, 2}) limit_appending_threads(probe, threads);
  limit_merging_threads(probe, 1);
}

/// Rows for more threads than anybody has: so much work that many of them wait for a core in the
/// middle of a row while others begin theirs.
void crowd(Probe& probe) {
  Rng rng = probe.begin_case("very_many_threads");
  Setup setup = one_sequence(1000, 16);
  setup.heads = 1;
  setup.options.threads = static_cast<int>(rng.integer(kit::kManyThreads / 2, kit::kManyThreads));
  Cache cache(probe, setup, rng.seed());
  cache.append(0, draw_many_tokens(rng, setup, rng.integer(950, 1000)));
  const Problem problem = draw_problem(rng, setup, cache.contents(), {0}, rng.integer(350, 400), 8);
  const Answer answer = cache.attend(problem);
  const auto wanted = [&] { return rng.chance(1.0 / 32); };
  cache.require_close(answer, expect(setup, cache.contents(), problem, wanted));
  if (!same_bits(cache.attend(problem), answer))
    cache.fail("the same call gave other bits than before");
  probe.restart();  // later calls would wait for as many idle threads
}

void thread_counts(Probe& probe) {
  for (const int threads : {1, 2, 3, 8}) {
    Rng rng = probe.begin_case(fmt::format("{}_threads", threads));
    Setup setup = busy_setup(rng, kAllStored[threads % 3]);
    setup.options.threads = threads;
    Cache cache(probe, setup, rng.seed());
    cache.append({{0, draw_tokens(rng, setup, 500)},
                  {1, draw_tokens(rng, setup, 3)},
                  {2, draw_tokens(rng, setup, rng.integer(100, 300))}});
    cache.require_right(rng, {1, 0, 2}, 1, 4);
    cache.require_right(rng, {0}, 5, 4);
    cache.require_contents();
  }
  crowd(probe);
  limit_threads(probe, 1);
  for (const int threads : {1, 2}) limit_appending_threads(probe, threads);
  limit_merging_threads(probe, 1);
  Rng rng = probe.begin_case("copies_beside_a_long_append");
  require_copied_in_time(probe, rng);
  rng = probe.begin_case("merge");
  const Parts parts = draw_parts(rng, 2, kUnevenRows, 53, 2, 0.2);
  for (const int threads : {2, 8}) {
    CallOptions options;
    options.threads = threads;
    require_right(probe, parts, true, options);
  }
}

// Thousands of tokens, long enough for whatever is done differently then, and more of them than
// scratch memory has room for.
void long_context(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    Setup setup = busy_setup(rng, stored);
    setup.width = 300;
    setup.pages = 2 * setup.width;
    setup.sequences = 2;
    setup.heads = 1;
    setup.key_dim = setup.value_dim = setup.group = 32;
    setup.options.renumber_pages = setup.options.fresh_process = true;
    Cache cache(probe, setup, rng.seed());
    cache.append({{0, draw_many_tokens(rng, setup, rng.integer(4200, 4700))},
                  {1, draw_many_tokens(rng, setup, rng.integer(900, 1200))}});
    cache.require_right(rng, {1, 0}, 1, 8);
    Problem last = draw_problem(rng, setup, cache.contents(), {0}, 2, 4);
    last.window = 3000;
    draw_queries(rng, setup, cache.contents(), last);
    cache.require_right(last);
    // Of as many keys as whole tiles have.
    last.window = -1;
    last.queries = {1};
    last.key_end = {4096};
    draw_queries(rng, setup, cache.contents(), last);
    cache.require_right(last);
    cache.append(0, draw_many_tokens(rng, setup, 1));
    cache.require_right(rng, {0}, 1, 8);
  }
  Rng rng = probe.begin_case("many_keys");
  require_small_scratch(probe, rng, many_keys(KV_INT8));
  rng = probe.begin_case("many_parts");
  require_small_scratch(probe, rng, kManyParts);
}

void optional_outputs(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    Setup setup{.stored = stored};
    Cache cache(probe, setup, rng.seed());
    cache.append({{0, draw_tokens(rng, setup, 11)}, {2, draw_tokens(rng, setup, 30)}});
    Problem problem = draw_problem(rng, setup, cache.contents(), {2, 0, 2}, 2, 4);
    problem.want_lse = false;
    cache.require_right(problem);
  }
}

// Where rows are fewer than threads, these may share the keys of a row. They are so many that no
// thread is done with its share before another has begun.
void deterministic_bits(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    const Setup setup = busy_setup(rng, stored);
    Cache cache(probe, setup, rng.seed());
    cache.append({{0, draw_tokens(rng, setup, 700)}, {1, draw_tokens(rng, setup, 90)}});
    cache.require_right_again(draw_problem(rng, setup, cache.contents(), {1, 0}, 2, 8), 8);
    rng = probe.begin_case(fmt::format("{}_few_rows", name_of(stored)));
    Setup thin = long_sequence(stored, 60'000, 3);
    thin.options.threads = 4;
    Cache longer(probe, thin, rng.seed());
    longer.append(0, draw_many_tokens(rng, thin, 60'000));
    for (const std::int64_t rows : {1, 3})
      longer.require_right_again(draw_problem(rng, thin, longer.contents(), {0}, 1, rows), 4);
  }
  crowd(probe);
  Rng rng = probe.begin_case("merge");
  CallOptions options;
  options.threads = 4;
  const Parts parts = draw_parts(rng, 60'000, 1, 32, 1, 0.1);
  require_same_again(probe, parts, options, require_right(probe, parts, true, options), 12);
}

}  // namespace

std::vector<Check> execution_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"state_with_caller", "state kept elsewhere than with the caller", robustness, 2, critical},
       state_with_caller},
      {{"two_caches", "one cache's shape or state taken for another's", robustness, 1, major},
       two_caches},
      {{"unaligned_pointers", "wider alignment than promised, reads behind the end", robustness, 2,
        critical},
       unaligned_pointers},
      {{"thread_counts", "work lost or doubled between threads", robustness, 1, major},
       thread_counts},
      {{"thread_limit", "more threads at work than num_threads", robustness, 1, major},
       thread_limit},
      {{"long_context", "paths that are taken for long sequences only", robustness, 2, major},
       long_context},
      {{"optional_outputs", "lse written where nobody wants it", robustness, 0.5, major},
       optional_outputs},
      {{"deterministic_bits", "results that depend on how threads interleave", robustness, 0.5,
        minor},
       deterministic_bits},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
