#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

#include "cache.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr KvStored kQuantised[] = {KV_INT8, KV_INT4};

/// A kind of numbers: what number d of vector `row` is.
struct Family {
  const char* name;
  std::function<double(Rng&, std::int64_t row, std::int64_t d)> number;
};

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"normal", [](Rng& rng, auto, auto) { return rng.normal(); }},
      {"constant", [](Rng&, std::int64_t row, auto) { return 0.7 * double(row) - 3; }},
      {"zeros", [](Rng&, auto, auto) { return 0.0; }},
      {"outlier", [](Rng& rng, auto row, auto d) { return d == row % 7 ? 1e3 : rng.normal(); }},
      {"negative_outlier",
       [](Rng& rng, auto row, auto d) { return d == row % 7 ? -1e3 : rng.normal(); }},
      {"both_ends", [](Rng& rng, auto, auto) { return rng.chance(0.5) ? 2.5 : -2.5; }},
      {"far_from_zero", [](Rng& rng, auto, auto) { return 50 + rng.uniform(-1, 1); }},
      {"all_negative", [](Rng& rng, auto, auto) { return -rng.uniform(1, 9); }},
      {"skewed", [](Rng& rng, auto, auto) { return std::exp(2 * rng.normal()); }},
      {"beyond_half_precision", [](Rng& rng, auto, auto) { return 1e6 * rng.normal(); }},
      {"large", [](Rng& rng, auto, auto) { return 9e29 * rng.uniform(-1, 1); }},
      {"small", [](Rng& rng, auto, auto) { return 1e-12 * rng.normal(); }},
      {"denormal", [](Rng& rng, auto, auto) { return 1e-40 * rng.normal(); }},
      {"one_number_denormal", [](Rng&, auto, auto d) { return d == 3 ? 1e-39 : 0.0; }},
      {"one_number", [](Rng&, auto row, auto d) { return d == row % 5 ? 1.0 : 0.0; }},
  };
  return all;
}

Tokens family_tokens(Rng& rng, const Setup& setup, std::int64_t tokens, const Family& family) {
  Tokens made;
  made.resize(setup, tokens);
  for (std::size_t i = 0; i < made.k.size(); ++i)
    made.k[i] = static_cast<float>(
        family.number(rng, std::int64_t(i) / setup.key_dim, std::int64_t(i) % setup.key_dim));
  for (std::size_t i = 0; i < made.v.size(); ++i)
    made.v[i] = static_cast<float>(
        family.number(rng, std::int64_t(i) / setup.value_dim, std::int64_t(i) % setup.value_dim));
  return made;
}

Setup storage_setup(KvStored stored) {
  Setup setup;
  setup.stored = stored;
  setup.key_dim = 40;
  setup.value_dim = 64;
  setup.group = 32;
  setup.sequences = 2;
  return setup;
}

// Every number within half a step of what was given, whatever its group looks like.
void storage_bounds(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const Family& family : families()) {
      Rng rng = probe.begin_case(fmt::format("{}_{}", name_of(stored), family.name));
      const Setup setup = storage_setup(stored);
      Cache cache(probe, setup, rng.seed());
      cache.append(0, family_tokens(rng, setup, rng.integer(9, 20), family));
      cache.append(1, draw_tokens(rng, setup, 3));
      cache.append(0, family_tokens(rng, setup, 2, family));
      cache.require_contents();
    }
}

// Groups whose numbers all lie close together and away from zero: the step is that of their range.
void narrow_groups(Probe& probe) {
  const Family narrow{"", [](Rng& rng, auto row, auto d) {
                        return (row % 2 == 0 ? 5 : -5) + double(d / 16) + rng.uniform(0, 1);
                      }};
  for (const KvStored stored : kQuantised)
    for (const auto& [dim, group] : {std::array{96, 64}, {46, 16}, {33, 32}, {20, 32}, {15, 5}}) {
      Rng rng = probe.begin_case(fmt::format("{}_{}_in_groups_of_{}", name_of(stored), dim, group));
      Setup setup = storage_setup(stored);
      setup.key_dim = setup.value_dim = dim;
      setup.group = group;
      Cache cache(probe, setup, rng.seed());
      cache.append(0, family_tokens(rng, setup, 19, narrow));
      cache.require_attention(rng, {0}, 1, 2);
    }
}

// Each channel has a number of its own: codes that change places are seen.
void channel_ramps(Probe& probe) {
  for (const KvStored stored : kQuantised)
    for (const std::int64_t group : {16, 15, 64}) {
      Rng rng = probe.begin_case(fmt::format("{}_in_groups_of_{}", name_of(stored), group));
      Setup setup = storage_setup(stored);
      setup.key_dim = rng.integer(30, 64);
      setup.value_dim = rng.integer(30, 64);
      setup.group = group;
      Cache cache(probe, setup, rng.seed());
      const Family ramp{"", [group](Rng&, auto row, auto d) {
                          const double up = static_cast<double>(d % group);
                          return row % 3 == 0 ? up : row % 3 == 1 ? -up : 3 * up - 20;
                        }};
      cache.append(0, family_tokens(rng, setup, 13, ramp));
      cache.require_contents();
      cache.append(1, draw_tokens(rng, setup, 21));
      cache.require_attention(rng, {1}, 2, 4);
    }
}

// Tokens, heads, groups, keys and values all have scales of their own.
void token_scales(Probe& probe) {
  for (const KvStored stored : kQuantised) {
    Rng rng = probe.begin_case(fmt::format("{}_steep", name_of(stored)));
    const Setup setup = storage_setup(stored);
    Cache cache(probe, setup, rng.seed());
    Tokens tokens = draw_tokens(rng, setup, 30);
    for (std::size_t i = 0; i < tokens.k.size(); ++i)
      tokens.k[i] *= static_cast<float>(
          std::pow(10.0, std::int64_t(i) / setup.key_dim % 13 - 6 + std::int64_t(i) % 40 / 32));
    for (std::size_t i = 0; i < tokens.v.size(); ++i)
      tokens.v[i] *= static_cast<float>(
          std::pow(10.0, std::int64_t(i) / setup.value_dim % 11 - 4 - std::int64_t(i) % 64 / 32));
    cache.append(0, tokens.part(setup, 0, 21));
    cache.append(0, tokens.part(setup, 21, 9));
    cache.require_contents();

    rng = probe.begin_case(fmt::format("{}_attended", name_of(stored)));
    Tokens gentle = draw_tokens(rng, setup, 30);
    for (std::size_t i = 0; i < gentle.k.size(); ++i)
      gentle.k[i] *= static_cast<float>(1 + std::int64_t(i) / setup.key_dim % 5);
    for (std::size_t i = 0; i < gentle.v.size(); ++i)
      gentle.v[i] *= 100.0f * static_cast<float>(1 + std::int64_t(i) / setup.value_dim % 7);
    cache.append(1, gentle);
    cache.require_attention(rng, {1}, 3, 4);
  }
}

// What is stored of a token is the same whoever came with it, before it or after it, bit for bit.
void tokens_apart(Probe& probe) {
  for (const KvStored stored : kAllStored) {
    Rng rng = probe.begin_case(name_of(stored));
    Setup setup = storage_setup(stored);
    setup.sequences = 5;
    const Tokens tokens = draw_tokens(rng, setup, 20);
    Tokens loud = draw_tokens(rng, setup, 20);
    for (float& x : loud.k) x *= 1e4f;
    for (float& x : loud.v) x *= 1e4f;
    Cache cache(probe, setup, rng.seed());
    cache.append(0, tokens);
    for (std::int64_t t = 0; t < 20; ++t) {
      Chunk chunk{1, tokens.part(setup, t, 1)};
      if (t % 2 == 0) {
        cache.append({chunk, {2, loud.part(setup, t, 1)}});
      } else {
        cache.append({{2, loud.part(setup, t, 1)}, chunk});
      }
    }
    cache.append({{3, loud.part(setup, 0, 5)}, {4, tokens.part(setup, 0, 4)}});
    cache.append({{4, tokens.part(setup, 4, 16)}, {3, loud.part(setup, 5, 15)}});
    const Tokens want = cache.read(0);
    for (const std::int64_t s : {1, 4}) {
      const Tokens got = cache.read(s);
      if (got.k != want.k || got.v != want.v)
        cache.fail("what is stored of a token depends on the tokens that came with it");
    }
    cache.truncate(1, 7);
    const Tokens rest = cache.read(1);
    if (!std::equal(rest.k.begin(), rest.k.end(), want.k.begin()))
      cache.fail("what is stored of a token depends on the tokens after it");
  }
}

// The promised bytes, and a pool of exactly as many pages as the tokens need: every slot of it
// holds a token of its own.
void page_bytes(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const auto& [dim, group, page_tokens] : {std::array{128, 128, 16},
                                                  {128, 32, 16},
                                                  {64, 64, 32},
                                                  {96, 64, 1},
                                                  {45, 10, 3},
                                                  {1, 1, 1},
                                                  {256, 64, 128}}) {
      Rng rng =
          probe.begin_case(fmt::format("{}_{}_{}_{}", name_of(stored), dim, group, page_tokens));
      Setup setup;
      setup.stored = stored;
      setup.key_dim = dim;
      setup.value_dim = rng.chance(0.5) ? dim : near_to(rng, dim);
      setup.value_dim = std::min<std::int64_t>(setup.value_dim, 256);
      setup.group = group;
      setup.page_tokens = page_tokens;
      setup.sequences = 2;
      setup.pages = 3;
      setup.width = 3;
      Cache cache(probe, setup, rng.seed());
      cache.append({{0, draw_tokens(rng, setup, page_tokens)},
                    {1, draw_tokens(rng, setup, 2 * page_tokens)}});
      cache.require_contents();
      if (dim == 128 && group == 128)
        probe.fact(fmt::format("{} bits a number, 128 in a group", name_of(stored)),
                   8 * static_cast<double>(cache.state().page_bytes) /
                       static_cast<double>(page_tokens * setup.heads * (dim + setup.value_dim)),
                   "bit");
    }
}

}  // namespace

std::vector<Check> storage_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"storage_bounds", "codes further off than half a step", correctness, 3, critical},
       storage_bounds},
      {{"channel_ramps", "codes packed in one order and unpacked in another", correctness, 1,
        critical},
       channel_ramps},
      {{"token_scales", "scales of another token, head, group, or of keys for values", correctness,
        2, critical},
       token_scales},
      {{"narrow_groups", "ranges that start at zero, or take in padding", correctness, 1, major},
       narrow_groups},
      {{"tokens_apart", "storage of a token that depends on its company", correctness, 2, critical},
       tokens_apart},
      {{"page_bytes", "storage in more bytes than the type has", correctness, 2, critical},
       page_bytes},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
