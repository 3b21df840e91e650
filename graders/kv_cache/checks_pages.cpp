#include <fmt/format.h>
#include <limits>

#include "cache.h"
#include "graders/kit/inputs.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::kNan;

/// A few sequences of random length, with room to spare.
void fill(Cache& cache, Rng& rng, std::int64_t longest) {
  std::vector<Chunk> chunks;
  for (std::int64_t s = 0; s < cache.setup().sequences; ++s)
    chunks.push_back({s, draw_tokens(rng, cache.setup(), rng.integer(3, longest))});
  cache.append(chunks);
}

Ids everyone(const Cache& cache) {
  Ids all;
  for (std::int64_t s = 0; s < cache.setup().sequences; ++s) all.push_back(s);
  return all;
}

void page_sizes(Probe& probe) {
  for (const std::int64_t page_tokens : {1, 2, 3, 5, 8, 16, 32, 48, 128, 256})
    for (const KvStored stored : kAllStored) {
      Rng rng = probe.begin_case(fmt::format("{}_pages_of_{}", name_of(stored), page_tokens));
      Setup setup;
      setup.stored = stored;
      setup.page_tokens = page_tokens;
      setup.key_dim = setup.value_dim = setup.group = 32;
      setup.sequences = 2;
      setup.width = 70 / page_tokens + 2;
      setup.pages = 2 * setup.width;
      Cache cache(probe, setup, rng.seed());
      fill(cache, rng, 60);
      cache.append(1, draw_tokens(rng, setup, rng.integer(1, 9)));
      cache.require_attention(rng, {1, 0}, 2, 4);
    }
}

// Pages wander between any two calls, and only the table says where they are.
void page_order(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    Setup setup;
    setup.stored = stored;
    setup.pages = 48;
    Cache cache(probe, setup, rng.seed(), {.renumber = true});
    fill(cache, rng, 50);
    for (int turn = 0; turn < 4; ++turn) {
      cache.require_attention(rng, random_order(rng, 4), 1, 4);
      cache.append(turn, draw_tokens(rng, setup, rng.integer(1, 12)));
    }
    cache.free(0);
    cache.fork(2, 0);
    cache.require_attention(rng, {0, 2, 0}, 3, 2);
    cache.require_contents();
  }
}

// The table behind the entries in use names pages that do not exist, or that are another's.
void stale_table(Probe& probe) {
  for (const std::int64_t tokens : {7, 8, 9, 24}) {
    Rng rng = probe.begin_case(fmt::format("{}_tokens", tokens));
    const Setup setup;
    Cache cache(probe, setup, rng.seed());
    cache.append({{1, draw_tokens(rng, setup, tokens)}, {2, draw_tokens(rng, setup, 30)}});
    cache.require_attention(rng, {1, 2}, 1, 2);
    State state = cache.state();
    for (const std::int32_t wild :
         {-1, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min(),
          77'000, static_cast<std::int32_t>(rng.integer(0, setup.pages - 1))}) {
      for (std::int64_t s = 0; s < setup.sequences; ++s)
        for (std::int64_t at = state.used(s); at < setup.width; ++at) state.entry(s, at) = wild;
      const Question question = ask_about(rng, setup, cache.contents(), {1, 2}, 1, 2);
      AttendCall call(state, question);
      probe.run_ok(call.call);
      cache.require_answer(question, call.answer(),
                           expect_attention(setup, cache.contents(), question));
    }
  }
}

// What a slot held before its token came, or after it went, is of no account: NaN, infinity and
// numbers that would win every softmax.
void stale_slots(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const float poison : {kNan, std::numeric_limits<float>::infinity(), 1e30f, -3e4f}) {
      Rng rng = probe.begin_case(fmt::format("{}_{}", name_of(stored), poison));
      Setup setup;
      setup.stored = stored;
      setup.page_tokens = rng.chance(0.5) ? 16 : 6;
      setup.key_dim = setup.value_dim = setup.group = 32;
      Cache cache(probe, setup, rng.seed());
      for (std::int64_t s = 0; s < 3; ++s) {
        const std::int64_t kept = s == 0 ? 0 : rng.integer(1, 20);
        cache.append(s, draw_tokens(rng, setup, kept));
        cache.append(s, constant_tokens(setup, rng.integer(20, 40), poison));
        cache.truncate(s, kept);
      }
      cache.require_attention(rng, {1, 2}, 1, 4);
      for (std::int64_t s = 0; s < 3; ++s)
        cache.append(s, draw_tokens(rng, setup, rng.integer(2, 6)));
      cache.require_attention(rng, {2, 0, 1}, 2, 4);
    }
}

// Tokens that the window or the range of keys leaves out may be NaN.
void unseen_tokens(Probe& probe) {
  for (const bool by_window : {true, false}) {
    Rng rng = probe.begin_case(by_window ? "before_the_window" : "outside_the_range");
    Setup setup;
    setup.page_tokens = by_window ? 16 : 5;
    setup.sequences = 2;
    Cache cache(probe, setup, rng.seed());
    const std::int64_t bad = rng.integer(2, 30);
    const std::int64_t good = rng.integer(8, 20);
    cache.append(0, constant_tokens(setup, bad, kNan));
    cache.append(0, draw_tokens(rng, setup, good));
    if (!by_window) cache.append(0, constant_tokens(setup, 3, kNan));
    cache.append(1, constant_tokens(setup, 9, kNan));
    cache.append(1, draw_tokens(rng, setup, good));
    Question question;
    question.which = {0, 1, 0};
    question.queries = {2, 1, 3};
    if (by_window) {
      question.window = good - 3;
    } else {
      question.key_begin = {bad, 9, bad + 1};
      question.key_end = {bad + good, 9 + good - 1, bad + good - 1};
    }
    draw_queries(rng, setup, cache.contents(), question);
    cache.require_attention(question);
  }
}

// A NaN stays with the sequence that has it.
void nan_isolation(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    Setup setup;
    setup.stored = stored;
    setup.page_tokens = 16;
    Cache cache(probe, setup, rng.seed());
    Tokens bad = draw_tokens(rng, setup, 20);
    for (std::size_t i = 0; i < bad.k.size(); i += 7) bad.k[i] = bad.v[i] = kNan;
    const Tokens good = draw_tokens(rng, setup, 20);
    cache.append({{0, good}, {1, bad}, {2, draw_tokens(rng, setup, 37)}});
    const Question both = ask_about(rng, setup, {good, good, cache.contents()[2]}, {0, 1, 2}, 2, 4);
    const Answer answer = cache.attend(both);
    Question alone = both;
    alone.which = {0, 2};
    alone.queries = {2, 2};
    const std::size_t each = both.q.size() / 3;
    alone.q.erase(alone.q.begin() + static_cast<std::ptrdiff_t>(each),
                  alone.q.begin() + static_cast<std::ptrdiff_t>(2 * each));
    const auto without = [](std::vector<float> all) {
      const auto third = std::ssize(all) / 3;
      all.erase(all.begin() + third, all.begin() + 2 * third);
      return all;
    };
    cache.require_answer(alone, {without(answer.out), without(answer.lse)},
                         expect_attention(setup, cache.stored_for(alone), alone));
  }
}

// Pages that are shared are left alone by whoever writes, and live as long as their last user.
void fork_divergence(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const std::int64_t tokens : {8, 9, 15, 16, 21}) {
      Rng rng = probe.begin_case(fmt::format("{}_{}_tokens", name_of(stored), tokens));
      Setup setup;
      setup.stored = stored;
      Cache cache(probe, setup, rng.seed());
      cache.append(0, draw_tokens(rng, setup, tokens));
      cache.fork(0, 1);
      cache.fork(1, 2);
      cache.append({{1, draw_tokens(rng, setup, 3)},
                    {0, draw_tokens(rng, setup, 2)},
                    {2, draw_tokens(rng, setup, 9)}});
      cache.require_attention(rng, {0, 1, 2}, 2, 4);
      cache.free(0);
      cache.fork(2, 3);
      cache.truncate(3, tokens - 1);
      cache.append(3, draw_tokens(rng, setup, 4));
      cache.append(0, draw_tokens(rng, setup, 30));
      cache.free(2);
      cache.append(2, draw_tokens(rng, setup, 12));
      cache.require_attention(rng, everyone(cache), 1, 2);
      cache.require_contents();
    }
}

// Tokens that were tried and dropped leave nothing behind, neither numbers nor pages.
void rollback(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    Setup setup;
    setup.stored = stored;
    setup.page_tokens = 4;
    setup.pages = 16;
    Cache cache(probe, setup, rng.seed());
    cache.append(0, draw_tokens(rng, setup, 3));
    for (int turn = 0; turn < 14; ++turn) {
      const std::int64_t tried = rng.integer(1, 7);
      const std::int64_t kept = rng.integer(0, std::min<std::int64_t>(tried, 2));
      const std::int64_t before = cache.length(0);
      cache.append(0, draw_tokens(rng, setup, tried));
      cache.require_attention(rng, {0}, tried, 2);
      cache.truncate(0, before + kept);
      cache.require_attention(rng, {0}, 1, 2);
    }
    cache.require_contents();
  }
}

// The last page is used, and not one more. What does not fit changes nothing.
void out_of_pages(Probe& probe) {
  for (const KvStored stored : {KV_F32, KV_INT4}) {
    Rng rng = probe.begin_case(fmt::format("{}_pool", name_of(stored)));
    Setup setup;
    setup.stored = stored;
    setup.pages = 6;
    setup.width = 5;
    Cache cache(probe, setup, rng.seed());
    cache.append(0, draw_tokens(rng, setup, 20));                                       // 3 pages
    cache.append({{1, draw_tokens(rng, setup, 9)}, {2, draw_tokens(rng, setup, 10)}});  // too many
    cache.append({{1, draw_tokens(rng, setup, 9)}, {2, draw_tokens(rng, setup, 8)}});   // the last
    cache.append({{2, draw_tokens(rng, setup, 1)}});
    cache.append({{0, draw_tokens(rng, setup, 4)}, {1, draw_tokens(rng, setup, 7)}});  // in place
    cache.require_attention(rng, {0, 1, 2}, 1, 2);
    probe.begin_case(fmt::format("{}_copies_count", name_of(stored)));
    cache.truncate(0, 21);
    cache.fork(0, 3);
    cache.append({{0, draw_tokens(rng, setup, 1)}});  // its last page is shared, and none is free
    cache.free(2);
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
  }
}

// Lists without anything in them.
void nothing_new(Probe& probe) {
  Rng rng = probe.begin_case("some_sequences");
  Setup setup;
  Cache cache(probe, setup, rng.seed());
  const Tokens none;
  cache.append({{0, none}, {1, draw_tokens(rng, setup, 5)}, {2, none}});
  cache.append({{1, none}});
  cache.append({{1, none}, {3, draw_tokens(rng, setup, 8)}, {0, none}});
  cache.read(1, 5, 0);
  cache.read(0, 0, 0);
  probe.begin_case("no_sequences");
  cache.append(std::vector<Chunk>{});
  cache.attend(Question{});
  probe.begin_case("no_queries");
  Question question = ask_about(rng, setup, cache.contents(), {1, 0, 3}, 2, 2);
  question.queries = {0, 0, 2};
  draw_queries(rng, setup, cache.contents(), question);
  cache.require_attention(question);
  question.queries = {0, 0, 0};
  question.q.clear();
  cache.attend(question);
  probe.begin_case("forks");
  cache.fork(0, 2);
  cache.truncate(2, 0);
  cache.truncate(1, cache.length(1));
  cache.require_contents();
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
      {{"page_sizes", "page sizes that are not powers of two, or small", robustness, 1, major},
       page_sizes},
      {{"fork_divergence", "shared pages written by one of their users, or freed under them",
        robustness, 3, critical},
       fork_divergence},
      {{"rollback", "dropped tokens that come back", robustness, 2, major}, rollback},
      {{"out_of_pages", "a pool that is exceeded, or left half changed", robustness, 2, major},
       out_of_pages},
      {{"nothing_new", "lists and chunks without anything in them", robustness, 1, major},
       nothing_new},
      {{"unseen_tokens", "NaN in tokens that no query sees", robustness, 1, major}, unseen_tokens},
      {{"nan_isolation", "a NaN that leaves its sequence", robustness, 1, major}, nan_isolation},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
