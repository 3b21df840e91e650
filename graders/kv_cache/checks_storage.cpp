// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>

#include "cache.h"
#include "harness/grading/grader.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr KvStored kQuantised[] = {KV_INT8, KV_INT4};

/// A kind of numbers: what number d of vector `row` is.
struct Family {
  const char* name;
  std::function<double(Rng&, std::int64_t row, std::int64_t d)> number;
};

/// Close to one number, in vectors after one another from a range of about 2^-20 of it, which is
/// all that is forgiven, up to a tenth.
double close_number(Rng& rng, std::int64_t row) {
  const double range = 1.25e-6 * std::exp2(double(row % 17));
  return (row % 2 == 0 ? 3 : -3) * (1 + range * double(rng.integer(0, 4)) / 4);
}

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
      // All magnitudes down to the 1e-30 that is forgiven, and up to the largest.
      {"tiny", [](Rng& rng, auto row,
                  auto) { return 2e-30 * std::pow(10, row % 18) * rng.uniform(-1, 1); }},
      {"huge", [](Rng& rng, auto row,
                  auto) { return 9e29 * std::pow(10, -row % 18) * rng.uniform(-1, 1); }},
      {"close", [](Rng& rng, auto row, auto) { return close_number(rng, row); }},
      {"denormal", [](Rng& rng, auto, auto) { return 1e-40 * rng.normal(); }},
      {"one_number_denormal", [](Rng&, auto, auto d) { return d == 3 ? 1e-39 : 0.0; }},
      {"one_number", [](Rng&, auto row, auto d) { return d == row % 5 ? 1.0 : 0.0; }},
      {"nan_in_the_second_group",
       [](Rng& rng, auto row, auto d) {
         return d == 39 && row % 2 == 0 ? draw_nan(rng) : rng.normal();
       }},
      {"nan_anywhere",
       [](Rng& rng, auto row, auto d) { return d == row * 7 % 40 ? draw_nan(rng) : rng.normal(); }},
      {"infinity_anywhere",
       [](Rng& rng, auto row, auto d) {
         return d != row * 7 % 40 ? rng.normal() : row % 2 == 0 ? kit::kInfinity : -kit::kInfinity;
       }},
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
  Setup setup{.stored = stored, .key_dim = 40, .value_dim = 64, .group = 32, .sequences = 2};
  return setup;
}

void store_family(Probe& probe, const Setup& setup, const Family& family) {
  Rng rng = probe.begin_case(
      fmt::format("{}_{}_groups_of_{}", name_of(setup.stored), family.name, setup.group));
  Cache cache(probe, setup, rng.seed());
  cache.append(0, family_tokens(rng, setup, rng.integer(18, 22), family));
  cache.append(1, draw_tokens(rng, setup, 3));
  cache.append(0, family_tokens(rng, setup, 2, family));
  cache.require_contents();
}

// Every number within half a step of what was given, whatever its group looks like, and whether
// groups end at whole bytes or not.
void storage_bounds(Probe& probe) {
  for (const KvStored stored : kAllStored)
    for (const Family& family : families()) {
      Setup setup = storage_setup(stored);
      store_family(probe, setup, family);
      setup.group = 7;
      if (stored != KV_F32) store_family(probe, setup, family);
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
      cache.require_right(rng, {1}, 2, 4);
    }
}

// Every token is of another magnitude, values the larger the smaller keys are, and each is all that
// a query sees: of what attention makes of its steps nothing is lost beside others.
void attend_alone(Probe& probe, KvStored stored) {
  Rng rng = probe.begin_case(fmt::format("{}_each_alone", name_of(stored)));
  const Setup setup = storage_setup(stored);
  constexpr std::int64_t kTokens = 60;
  const auto size = [](std::int64_t token) { return std::pow(10.0, double(token) - 29.8); };
  Cache cache(probe, setup, rng.seed());
  Tokens tokens = draw_tokens(rng, setup, kTokens);
  for (std::int64_t i = 0; i < std::ssize(tokens.k); ++i)
    tokens.k[static_cast<std::size_t>(i)] *= static_cast<float>(size(i / setup.key_numbers()));
  for (std::int64_t i = 0; i < std::ssize(tokens.v); ++i)
    tokens.v[static_cast<std::size_t>(i)] *=
        static_cast<float>(size(kTokens - 1 - i / setup.value_numbers()));
  cache.append(0, tokens);
  Problem problem;
  problem.which = {0};
  problem.queries = {kTokens};
  problem.q_heads = setup.heads;
  problem.window = 0;
  for (std::int64_t i = 0; i < kTokens * setup.key_numbers(); ++i)
    problem.q.push_back(static_cast<float>(0.1 * rng.normal() / size(i / setup.key_numbers())));
  cache.require_right(problem);
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
          std::pow(10.0, std::int64_t(i) / setup.key_dim % 58 - 29 + std::int64_t(i) % 40 / 32));
    for (std::size_t i = 0; i < tokens.v.size(); ++i)
      tokens.v[i] *= static_cast<float>(
          std::pow(10.0, std::int64_t(i) / setup.value_dim % 57 - 28 - std::int64_t(i) % 64 / 32));
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
    cache.require_right(rng, {1}, 3, 4);
  }
  for (const KvStored stored : kAllStored) attend_alone(probe, stored);
}

// Groups whose numbers all lie close together and away from zero: the step is that of their range.
void narrow_groups(Probe& probe) {
  const Family narrow{"", [](Rng& rng, auto row, auto d) {
                        return (row % 2 == 0 ? 5 : -5) + double(d >> 4) + rng.uniform(0, 1);
                      }};
  const Family narrower{"", [](Rng& rng, auto row, auto) { return close_number(rng, row); }};
  for (const KvStored stored : kQuantised)
    for (const auto& [dim, group] : {std::array{96, 64}, {46, 16}, {33, 32}, {20, 32}, {15, 5}}) {
      Rng rng = probe.begin_case(fmt::format("{}_{}_in_groups_of_{}", name_of(stored), dim, group));
      Setup setup = storage_setup(stored);
      setup.key_dim = setup.value_dim = dim;
      setup.group = group;
      Cache cache(probe, setup, rng.seed());
      cache.append(0, family_tokens(rng, setup, 19, narrow));
      cache.append(1, family_tokens(rng, setup, 10, narrower));
      cache.require_right(rng, {0, 1}, 1, 2);
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
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
