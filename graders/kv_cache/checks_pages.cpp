// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "cache.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// What a slot held before its token came, or after it went, is of no account: NaN, infinity and
// numbers that would win every softmax.
void stale_slots(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const float poison : {kit::kNan, kit::kInfinity, 1e30f, -3e4f}) {
      Rng rng = probe.begin_case(fmt::format("{}_{}", name_of(stored), poison));
      Setup setup{.stored = stored};
      setup.page_tokens = rng.chance(0.5) ? 16 : 6;
      setup.key_dim = setup.value_dim = setup.group = 32;
      Cache cache(probe, setup, rng.seed());
      for (std::int64_t s = 0; s < 3; ++s) {
        const std::int64_t kept = s == 0 ? 0 : rng.integer(1, 20);
        cache.append(s, draw_tokens(rng, setup, kept));
        cache.append(s, constant_tokens(setup, rng.integer(20, 40), poison));
        cache.truncate(s, kept);
      }
      cache.require_right(rng, {1, 2}, 1, 4);
      for (std::int64_t s = 0; s < 3; ++s)
        cache.append(s, draw_tokens(rng, setup, rng.integer(2, 6)));
      cache.require_right(rng, {2, 0, 1}, 2, 4);
    }
}

// The table behind the entries in use names pages that do not exist, or that are another's.
void stale_table(Probe& probe) {
  for (const std::int64_t tokens : {7, 8, 9, 24}) {
    Rng rng = probe.begin_case(fmt::format("{}_tokens", tokens));
    const Setup setup;
    Cache cache(probe, setup, rng.seed());
    cache.append({{1, draw_tokens(rng, setup, tokens)}, {2, draw_tokens(rng, setup, 30)}});
    cache.require_right(rng, {1, 2}, 1, 2);
    State state = cache.state();
    for (const std::int32_t wild :
         {-1, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min(),
          77'000, static_cast<std::int32_t>(rng.integer(0, setup.pages - 1))}) {
      for (std::int64_t s = 0; s < setup.sequences; ++s)
        for (std::int64_t at = state.used(s); at < setup.width; ++at) state.entry(s, at) = wild;
      const Problem problem = draw_problem(rng, setup, cache.contents(), {1, 2}, 1, 2);
      AttendCall call(state, problem);
      probe.run_ok(call);
      cache.require_close(call.answer(), expect(setup, cache.contents(), problem));
    }
  }
}

// Pages wander between any two calls, and only the table says where they are; only refs say which
// are free, whatever was freed last. Few are.
void page_order(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const bool pool_stays : {false, true}) {
      Rng rng = probe.begin_case(
          fmt::format("{}{}", name_of(stored), pool_stays ? "_at_one_address" : ""));
      Setup setup{.stored = stored, .pages = 32};
      setup.options.renumber_pages = true;
      setup.options.pool_stays = pool_stays;
      Cache cache(probe, setup, rng.seed());
      cache.append(draw_chunks(rng, setup, 50));
      for (std::int64_t turn = 0; turn < 8; ++turn) {
        cache.require_right(rng, random_order(rng, 4), 1, 4);
        const std::int64_t cut = turn % 4;
        cache.truncate(cut, std::max<std::int64_t>(1, cache.length(cut) - setup.page_tokens));
        cache.append((cut + 1) % 4, draw_tokens(rng, setup, rng.integer(8, 12)));
      }
      cache.free(0);
      cache.fork(2, 0);
      cache.require_right(rng, {0, 2, 0}, 3, 2);
      cache.require_contents();
    }
}

// Users of a page that all write to it: the last of them finds it its own. A pool that has just
// enough for that; or has too little, and that shows when some have their copies already.
void grow_all_users(Probe& probe, KvStored stored, std::int64_t pages) {
  Rng rng = probe.begin_case(fmt::format("{}_all_users_grow_in_{}_pages", name_of(stored), pages));
  Setup setup{.stored = stored, .page_tokens = 4, .pages = pages};
  Cache cache(probe, setup, rng.seed());
  cache.append(0, draw_tokens(rng, setup, rng.integer(1, 3)));
  for (std::int64_t s = 1; s < setup.sequences; ++s) cache.fork(0, s);
  std::vector<Chunk> chunks;
  for (const std::int64_t s : random_order(rng, setup.sequences))
    chunks.push_back({s, draw_tokens(rng, setup, 1)});
  cache.append(chunks);
  cache.require_contents();
}

/// All sequences use one page, and each holds another part of it: from one to the next of `order`
/// ever less, or ever more.
void share_unevenly(Cache& cache, Rng& rng, const Ids& order, bool less) {
  cache.append(0, draw_tokens(rng, cache.setup(), 11));
  for (std::int64_t s = 1; s < cache.setup().sequences; ++s) cache.fork(0, s);
  for (std::int64_t i = 0; i < std::ssize(order); ++i)
    cache.truncate(order[static_cast<std::size_t>(i)], less ? 11 - i : 8 + i);
}

// Whoever goes on first finds the page shared, the longest as well as the shortest; whoever is left
// finds it its own.
void grow_in_turn(Probe& probe, KvStored stored, std::int64_t first, bool longest) {
  Rng rng = probe.begin_case(fmt::format("{}_{}_grows_first_{}", name_of(stored), first,
                                         longest ? "the_longest" : "the_shortest"));
  Setup setup{.stored = stored, .page_tokens = 6};
  Cache cache(probe, setup, rng.seed());
  Ids order;
  for (std::int64_t i = 0; i < setup.sequences; ++i) order.push_back((first + i) % setup.sequences);
  share_unevenly(cache, rng, order, longest);
  cache.append(order[0], draw_tokens(rng, setup, 1));
  cache.free(order[1]);
  cache.append(order[2], draw_tokens(rng, setup, 1));
  cache.append(order[3], draw_tokens(rng, setup, 1));
  cache.require_contents();
}

// The same in one call: what the last of them writes into the page is nothing that the others, who
// have copies of it, had there.
void grow_at_once(Probe& probe, KvStored stored, bool longest) {
  Rng rng = probe.begin_case(fmt::format("{}_all_grow_first_{}", name_of(stored),
                                         longest ? "the_longest" : "the_shortest"));
  Setup setup{.stored = stored, .page_tokens = 6};
  Cache cache(probe, setup, rng.seed());
  const Ids order = random_order(rng, setup.sequences);
  share_unevenly(cache, rng, order, longest);
  std::vector<Chunk> chunks;
  for (const std::int64_t s : order) chunks.push_back({s, draw_tokens(rng, setup, 1)});
  cache.append(chunks);
  cache.require_contents();
}

// Pages that are shared are left alone by whoever writes, and live as long as their last user.
void fork_divergence(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const std::int64_t tokens : {8, 9, 15, 16, 21}) {
      Rng rng = probe.begin_case(fmt::format("{}_{}_tokens", name_of(stored), tokens));
      Setup setup{.stored = stored};
      Cache cache(probe, setup, rng.seed());
      cache.append(0, draw_tokens(rng, setup, tokens));
      cache.fork(0, 1);
      cache.fork(1, 2);
      cache.append({{1, draw_tokens(rng, setup, 3)},
                    {0, draw_tokens(rng, setup, 2)},
                    {2, draw_tokens(rng, setup, 9)}});
      cache.require_right(rng, {0, 1, 2}, 2, 4);
      cache.free(0);
      cache.fork(2, 3);
      cache.truncate(3, tokens - 1);
      cache.append(3, draw_tokens(rng, setup, 4));
      cache.append(0, draw_tokens(rng, setup, 30));
      cache.free(2);
      cache.append(2, draw_tokens(rng, setup, 12));
      cache.require_right(rng, {0, 1, 2, 3}, 1, 2);
      cache.require_contents();
    }
  for (const KvStored stored : kAllStored) {
    for (const std::int64_t pages : {4, 3, 2}) grow_all_users(probe, stored, pages);
    for (const bool longest : {true, false}) {
      for (const std::int64_t first : {0, 1, 2, 3}) grow_in_turn(probe, stored, first, longest);
      grow_at_once(probe, stored, longest);
    }
  }
  Rng rng = probe.begin_case("copies_beside_a_long_append");
  require_copied_in_time(probe, rng);
}

// The last page is used, and not one more. What does not fit changes nothing.
void out_of_pages(Probe& probe) {
  for (const KvStored stored : {KV_F32, KV_INT4}) {
    Rng rng = probe.begin_case(fmt::format("{}_pool", name_of(stored)));
    Setup setup{.stored = stored, .pages = 6, .width = 5};
    Cache cache(probe, setup, rng.seed());
    cache.append(0, draw_tokens(rng, setup, 20));                                       // 3 pages
    cache.append({{1, draw_tokens(rng, setup, 9)}, {2, draw_tokens(rng, setup, 10)}});  // too many
    cache.append({{1, draw_tokens(rng, setup, 9)}, {2, draw_tokens(rng, setup, 8)}});   // the last
    cache.append({{2, draw_tokens(rng, setup, 1)}});
    cache.append({{0, draw_tokens(rng, setup, 4)}, {1, draw_tokens(rng, setup, 7)}});  // in place
    cache.require_right(rng, {0, 1, 2}, 1, 2);
    probe.begin_case(fmt::format("{}_copies_count", name_of(stored)));
    cache.truncate(0, 21);
    cache.fork(0, 3);
    cache.append({{0, draw_tokens(rng, setup, 1)}});  // its last page is shared, and none is free
    cache.free(2);
    // There is a page for the copy, and none for what comes after it.
    cache.append({{0, draw_tokens(rng, setup, 1)}, {1, draw_tokens(rng, setup, 9)}});
    cache.append({{0, draw_tokens(rng, setup, 1)}, {3, draw_tokens(rng, setup, 2)}});  // one copy
    cache.require_contents();
    rng = probe.begin_case(fmt::format("{}_table", name_of(stored)));
    setup.pages = 12;
    Cache wide(probe, setup, rng.seed());
    wide.append({{1, draw_tokens(rng, setup, 1)}, {0, draw_tokens(rng, setup, 41)}});
    wide.append({{0, draw_tokens(rng, setup, 33)}, {1, draw_tokens(rng, setup, 6)}});
    wide.append(0, draw_tokens(rng, setup, 7));
    wide.append({{2, draw_tokens(rng, setup, 2)}, {0, draw_tokens(rng, setup, 1)}});
    wide.require_contents();
    grow_all_users(probe, stored, 3);
  }
  Rng rng = probe.begin_case("refused_often");
  require_freed_when_full(probe, rng);
  require_freed_when_refused(probe, rng);
  rng = probe.begin_case("copied_often");
  require_freed_when_copied(probe, rng);
}

}  // namespace

std::vector<Check> pages_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"stale_slots", "slots without a token that take part in the result", correctness, 3,
        critical},
       stale_slots},
      {{"stale_table", "table entries that are not in use, followed", correctness, 3, critical},
       stale_table},
      {{"page_order", "pages taken to be adjacent, or in order", robustness, 2, critical},
       page_order},
      {{"fork_divergence", "shared pages written by one of their users, or freed under them",
        robustness, 3, critical},
       fork_divergence},
      {{"out_of_pages", "a pool that is exceeded, or left half changed", robustness, 2, major},
       out_of_pages},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
