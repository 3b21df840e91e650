// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "cache.h"
#include "graders/kit/bits.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

bool same_bits(const Tokens& a, const Tokens& b) {
  return kit::same_bits(a.k, b.k) && kit::same_bits(a.v, b.v);
}

/// `number` by its place in its group.
template <class Number>
Tokens tokens_of(const Setup& setup, std::int64_t tokens, const Number& number) {
  Tokens made;
  made.resize(setup, tokens);
  for (std::int64_t i = 0; i < std::ssize(made.k); ++i)
    made.k[static_cast<std::size_t>(i)] =
        static_cast<float>(number(i % setup.key_dim % setup.group));
  for (std::int64_t i = 0; i < std::ssize(made.v); ++i)
    made.v[static_cast<std::size_t>(i)] =
        static_cast<float>(number(i % setup.value_dim % setup.group));
  return made;
}

/// Numbers half way between two codes, but for those that the step comes from: which of the two it
/// is must not depend on where a token lies.
Tokens tied_tokens(Rng& rng, const Setup& setup, std::int64_t tokens) {
  return tokens_of(setup, tokens, [&](std::int64_t in_group) {
    if (setup.stored == KV_INT4)
      return in_group < 2 ? 3.75 * double(in_group) - 2 : double(rng.integer(0, 14)) / 4 - 1.875;
    return in_group == 0 ? 127.0 / 32 : (double(rng.integer(-64, 63)) + 0.5) / 32;
  });
}

/// Groups whose steps differ in the last bits: nobody's is good enough for another.
Tokens nearly_alike_tokens(Rng& rng, const Setup& setup, std::int64_t tokens) {
  constexpr double kApart = 0x1p-13;
  return tokens_of(setup, tokens, [&](std::int64_t in_group) {
    const double end = 3 * (1 + kApart * rng.uniform());
    return in_group == 0 ? end : in_group == 1 ? -end : rng.uniform(-2, 2);
  });
}

/// Of every kind some. Where dimensions are odd, vectors lie at all multiples of 4 bytes.
Tokens mixed_tokens(Rng& rng, const Setup& setup, std::int64_t tokens) {
  Tokens made = nearly_alike_tokens(rng, setup, tokens / 3);
  made.append(draw_tokens(rng, setup, tokens / 3));
  made.append(tied_tokens(rng, setup, tokens - 2 * (tokens / 3)));
  return made;
}

/// The same tokens lie behind `lead` others of `sequence`, which was empty and is again. The last
/// of these is nearly like the first of those.
void require_stored_alike(Cache& cache, Rng& rng, std::int64_t sequence, std::int64_t lead,
                          const Tokens& tokens, const Tokens& stored) {
  const std::int64_t count = tokens.count(cache.setup());
  Tokens others = draw_tokens(rng, cache.setup(), lead - 1);
  others.append(nearly_alike_tokens(rng, cache.setup(), 1));
  cache.append(sequence, others);
  cache.append(sequence, tokens);
  const Tokens got = cache.read(sequence, lead, count);
  if (!same_bits(got, stored)) cache.fail("what is stored of a token depends on where it lies");
  cache.free(sequence);
}

// A prompt in chunks of any size leaves the same cache as the whole prompt at once, or as one that
// lies behind other tokens, and the queries of all chunks together the same result.
void chunked_prefill(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const std::int64_t size : {stored == KV_F32 ? 1 : 11, 5, 8, 16, 29}) {
      Rng rng = probe.begin_case(fmt::format("{}_chunks_of_{}", name_of(stored), size));
      Setup setup{.stored = stored, .key_dim = 15, .value_dim = 17, .sequences = 3};
      const std::int64_t tokens = rng.integer(30, 60);
      const Tokens prompt = mixed_tokens(rng, setup, tokens);
      Cache cache(probe, setup, rng.seed());
      cache.append(0, prompt);
      const Problem whole = draw_problem(rng, setup, cache.contents(), {0}, tokens, 4);
      cache.require_right(whole);
      const std::int64_t row = 4 * setup.key_dim;
      for (std::int64_t at = 0; at < tokens; at += size) {
        const std::int64_t some = std::min(size, tokens - at);
        cache.append(1, prompt.part(setup, at, some));
        Problem part = whole;
        part.which = {1};
        part.queries = {some};
        part.q.assign(whole.q.begin() + at * row, whole.q.begin() + (at + some) * row);
        cache.require_right(part);
      }
      const Tokens once = cache.read(0);
      const Tokens pieces = cache.read(1);
      if (!same_bits(once, pieces))
        cache.fail("what is stored of a prompt depends on the chunks that it came in");
      require_stored_alike(cache, rng, 2, 1 + 2 * rng.integer(0, 3), prompt, once);
    }
}

// What is stored of a token is the same whoever came with it, before it or after it, and in
// whatever slot of whatever page it lies, bit for bit.
void tokens_apart(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    Setup setup{.stored = stored, .key_dim = 39, .value_dim = 61, .group = 32, .sequences = 6};
    const Tokens tokens = mixed_tokens(rng, setup, 20);
    Tokens large_magnitude = draw_tokens(rng, setup, 20);
    for (float& x : large_magnitude.k) x *= 1e4f;
    for (float& x : large_magnitude.v) x *= 1e4f;
    Cache cache(probe, setup, rng.seed());
    cache.append(0, tokens);
    for (std::int64_t t = 0; t < 20; ++t) {
      Chunk chunk{1, tokens.part(setup, t, 1)};
      if (t / 2 % 2 == 0) {
        cache.append({chunk, {2, large_magnitude.part(setup, t, 1)}});
      } else {
        cache.append({{2, large_magnitude.part(setup, t, 1)}, chunk});
      }
    }
    cache.append({{3, large_magnitude.part(setup, 0, 5)}, {4, tokens.part(setup, 0, 3)}});
    cache.append({{4, tokens.part(setup, 3, 17)}, {3, large_magnitude.part(setup, 5, 15)}});
    const Tokens want = cache.read(0);
    for (const std::int64_t s : {1, 4}) {
      const Tokens got = cache.read(s);
      if (!same_bits(got, want))
        cache.fail("what is stored of a token depends on the tokens that came with it");
    }
    for (const std::int64_t lead : {1, 2, 4, 7, 8, 16})
      require_stored_alike(cache, rng, 5, lead, tokens, want);
    cache.truncate(1, 7);
    const Tokens rest = cache.read(1);
    if (!std::equal(rest.k.begin(), rest.k.end(), want.k.begin()))
      cache.fail("what is stored of a token depends on the tokens after it");
  }
}

/// Tokens of which one number is a NaN or an infinity, each time another.
Tokens torn_tokens(Rng& rng, const Setup& setup) {
  Tokens made = draw_tokens(rng, setup, setup.key_dim);
  for (std::int64_t vector = 0; vector < setup.key_dim * setup.heads; ++vector) {
    const float kinds[] = {draw_nan(rng), kit::kInfinity, -kit::kInfinity};
    const float kind = kinds[rng.integer(0, 2)];
    const std::int64_t d = vector / setup.heads;
    made.k[static_cast<std::size_t>(vector * setup.key_dim + d)] = kind;
    made.v[static_cast<std::size_t>(vector * setup.value_dim + d % setup.value_dim)] = kind;
  }
  return made;
}

// A NaN stays with the sequence that has it, and with its group.
void isolate_nan(Probe& probe, KvStored stored, std::int64_t group) {
  Rng rng = probe.begin_case(fmt::format("{}_groups_of_{}", name_of(stored), group));
  Setup setup{.stored = stored, .page_tokens = 16, .group = group};
  Cache cache(probe, setup, rng.seed());
  Tokens bad = draw_tokens(rng, setup, 20);
  for (std::size_t i = 0; i < bad.k.size(); i += 7) bad.k[i] = bad.v[i] = draw_nan(rng);
  const Tokens good = draw_tokens(rng, setup, 20);
  cache.append({{0, good}, {1, bad}, {2, draw_tokens(rng, setup, 37)}});
  const Problem both = draw_problem(rng, setup, {good, good, cache.contents()[2]}, {0, 1, 2}, 2, 4);
  const Answer answer = cache.attend(both);
  Problem alone = both;
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
  cache.require_close({without(answer.out), without(answer.lse)},
                      expect(setup, cache.stored_for(alone), alone));
  cache.append(0, torn_tokens(rng, setup));
  cache.require_contents();
}

// Groups of odd size share a byte of KV_INT4 with the next one.
void nan_isolation(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const std::int64_t group : {8, 5, 1}) isolate_nan(probe, stored, group);
}

}  // namespace

std::vector<Check> laws_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"chunked_prefill", "positions counted from the start of the chunk", correctness, 2,
        critical},
       chunked_prefill},
      {{"tokens_apart", "storage of a token that depends on its company", correctness, 2, critical},
       tokens_apart},
      {{"nan_isolation", "a NaN that leaves its sequence", robustness, 1, major}, nan_isolation},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
