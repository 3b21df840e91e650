// SPDX-License-Identifier: Apache-2.0
#include "directed.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "harness/core/error.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

Settings settings(std::int64_t beam, std::int64_t vocab, std::int64_t max_new, std::int64_t min_new,
                  double alpha, std::int32_t penalty, std::int32_t policy, std::int32_t stop) {
  return {.beam = beam,
          .vocab = vocab,
          .max_new = max_new,
          .min_new = min_new,
          .n_return = beam,
          .alpha = alpha,
          .penalty = penalty,
          .policy = policy,
          .stop = stop};
}

// Tables that several of the searches share, under other settings.
const Table kSixTable{
    {{{}, {-1, -0.5F, -6, -7}}, {{1}, {-6, -7, -0.625F, -8}}, {{1, 2}, {-0.625F, -7, -8, -9}}},
    {-4, -5, -6, -7}};
const Table kEarlyTable{{{{}, {-3, -5, -9, -9}}, {{1}, {-0.25F, -4, -4, -4}}}, {-2, -3, -4, -5}};
const Table kApartTable{
    {{{}, {-3, -4.75F, -4.25F}}, {{1}, {-1.5F, -0.5F, -2.5F}}, {{2}, {-1.5F, -1.25F, -4.75F}}},
    {-9, -9.5F, -10}};

/// Where the tokens of a directed search lie among further ones.
std::vector<std::int32_t> random_places(Rng& rng, std::int64_t tokens, std::int64_t vocab) {
  auto places = distinct_tokens(rng, tokens, vocab);
  std::sort(places.begin(), places.end());
  return places;
}

std::vector<float> disguised(Rng& rng, const std::vector<float>& row,
                             const std::vector<std::int32_t>& places, std::int64_t vocab,
                             float scale, bool forbidden) {
  std::vector<float> wide(static_cast<std::size_t>(vocab));
  for (float& value : wide)
    value = forbidden ? kForbidden : scale * static_cast<float>(-rng.integer(64, 128));
  for (std::size_t token = 0; token < row.size(); ++token)
    wide[static_cast<std::size_t>(places[token])] = scale * row[token];
  return wide;
}

constexpr std::int64_t kBlock = 512;  // tokens

using Tokens = std::vector<std::int32_t>;

/// The tokens of a block that a wrong bound of it, or an EOS in it or elsewhere, may take along.
Tokens tokens_at_risk(std::int64_t block, std::int64_t vocab, const Tokens& eos) {
  const std::int64_t first = block * kBlock;
  const std::int64_t last = std::min(first + kBlock, vocab) - 1;
  std::set<std::int64_t> tokens{first, last};
  for (const std::int64_t id : eos) tokens.insert({id - 1, id + 1, first + id % kBlock});
  for (const std::int64_t id : eos) tokens.erase(id);
  return {tokens.lower_bound(first), tokens.upper_bound(last)};
}

/// The tokens that can win in each item, the best at the root first.
std::vector<Tokens> winners(std::int64_t vocab, const Tokens& eos) {
  std::vector<Tokens> items;
  Tokens all;
  for (std::int64_t block = 0; block * kBlock < vocab; ++block) {
    Tokens tokens = tokens_at_risk(block, vocab, eos);
    all.insert(all.end(), tokens.begin(), tokens.end());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      items.push_back(tokens);
      std::rotate(tokens.begin(), tokens.begin() + 1, tokens.end());
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i)  // half of them further on is another block
    items.push_back({all[(i + all.size() / 2) % all.size()], all[i]});
  return items;
}

}  // namespace

std::span<const Directed> directed_searches() {
  static const std::vector<Directed> all{
#include "fixtures/directed_searches.h"
  };
  return all;
}

const Directed& directed(std::string_view name) {
  for (const Directed& one : directed_searches())
    if (one.name == name) return one;
  throw Broken(OwnFault::bug, fmt::format("no directed search is named '{}'", name));
}

SolvedProblem directed_problem(Rng& rng, const Directed& directed, std::int64_t batch,
                               bool long_rows) {
  Settings settings = directed.settings;
  settings.vocab += long_rows ? rng.integer(1100, 2600) : rng.integer(0, 5);
  settings.threads = static_cast<std::int32_t>(rng.integer(1, 3));
  settings.pad = static_cast<std::int32_t>(rng.integer(-1, settings.vocab - 1));
  const auto places = random_places(rng, directed.settings.vocab, settings.vocab);
  const auto moved = [&](std::vector<std::int32_t> tokens) {
    for (std::int32_t& token : tokens) token = places[static_cast<std::size_t>(token)];
    return tokens;
  };
  settings.eos = moved(settings.eos);
  std::vector<Table> tables;
  for (std::int64_t item = 0; item < batch; ++item) {
    const auto scale = static_cast<float>(1 << rng.integer(0, 3)) / 4;
    const auto wide = [&](const std::vector<float>& row) {
      return disguised(rng, row, places, settings.vocab, scale, !long_rows && rng.chance(0.5));
    };
    Table& table = tables.emplace_back();
    table.otherwise = wide(directed.table.otherwise);
    for (const auto& [tokens, row] : directed.table.rows) table.rows[moved(tokens)] = wide(row);
  }
  return solved_problem(settings, random_prompts(rng, batch), table_language(tables));
}

SolvedProblem blocks_problem(Rng& rng, std::int32_t policy, std::int64_t vocab,
                             const std::vector<std::int32_t>& eos) {
  Settings settings;
  settings.policy = policy;
  settings.vocab = vocab;
  settings.eos = eos;
  settings.min_new = rng.integer(1, 2);
  settings.max_new = settings.min_new + 1;
  settings.penalty = BEAM_PENALTY_NONE;  // nothing hangs on rounding
  const std::vector<Tokens> items = winners(vocab, eos);
  const auto language = [seed = rng(), settings, items](const Context& at, std::span<float> row) {
    const std::uint64_t numbers = mixed(at.path ^ seed, static_cast<std::uint64_t>(at.item));
    for (std::size_t token = 0; token < row.size(); ++token)
      row[token] = -static_cast<float>(mixed(numbers, token) % 1024) / 1024 - 64;
    const Tokens& ahead = items[static_cast<std::size_t>(at.item)];
    const std::size_t turn = at.depth == 0 ? 0 : numbers % ahead.size();
    const std::size_t apart = at.depth == 0 ? 1 : 3;  // both that the root gives stay to the end
    for (std::size_t i = 0; i < ahead.size(); ++i)
      row[static_cast<std::size_t>(ahead[i])] +=
          63 - static_cast<float>((turn + i) % ahead.size() * apart);
    for (std::size_t i = 0; i < settings.eos.size(); ++i)  // equals would leave others no place
      row[static_cast<std::size_t>(settings.eos[i])] =
          at.depth < settings.min_new ? 0 : -static_cast<float>(3 * i);
  };
  return solved_problem(settings, random_prompts(rng, std::ssize(items)), language);
}

SolvedProblem stretch_problem(Rng& rng, std::int32_t policy, std::int64_t ids) {
  constexpr std::int32_t kStretch = 60;
  Settings settings;
  settings.policy = policy;
  settings.vocab = rng.integer(12'000, 24'000);
  settings.beam = settings.n_return = rng.integer(3, 5);
  settings.max_new = 4;
  settings.min_new = rng.integer(0, 1);
  settings.alpha = rng.uniform(1.5, 3);  // long hypotheses win
  settings.stop = BEAM_STOP_BOUND;
  settings.threads = static_cast<std::int32_t>(rng.integer(2, 7));
  const auto first = static_cast<std::int32_t>(rng.integer(0, settings.vocab - kStretch));
  settings.eos = distinct_tokens(rng, ids, kStretch);
  for (std::int32_t& id : settings.eos) id += first;
  const auto language = [random = large_language(rng), eos = settings.eos, first](
                            const Context& at, std::span<float> row) {
    random(at, row);  // multiples of 2^-16 above -16: no digit is lost below
    for (float& value : row) value -= 6;
    for (float& value : row.subspan(static_cast<std::size_t>(first), kStretch))
      value = (value + 6) / 16 - 4;
    for (const std::int32_t id : eos) row[static_cast<std::size_t>(id)] += 1;
  };
  return solved_problem(settings, random_prompts(rng, 4), language);
}

SolvedProblem cut_rows_problem(Rng& rng, std::int32_t policy) {
  Settings settings;
  settings.policy = policy;
  settings.vocab = rng.integer(100'000, 120'000);
  settings.beam = settings.n_return = 3;
  settings.max_new = 4;
  settings.min_new = 3;
  settings.alpha = rng.uniform(0.5, 1.5);
  settings.threads = static_cast<std::int32_t>(rng.integer(2, 7));
  settings.eos = spread_tokens(rng, 16, settings.vocab);
  return solved_problem(settings, random_prompts(rng, 3),
                        with_ids_ahead(large_language(rng), settings.eos));
}

SolvedProblem equal_scores_problem(Rng& rng, std::int32_t policy, bool long_rows) {
  Settings settings = random_settings(rng, policy);
  draw_sizes(rng, settings, {2, 4}, long_rows ? Range{2000, 4000} : Range{20, 40}, {2, 2});
  settings.penalty = BEAM_PENALTY_LENGTH;
  settings.alpha = 1000;  // lp(2) = 2^1000
  const auto tiny = [](Rng& item_rng) {
    RandomLanguage drawn = draw_language(item_rng);
    drawn.unit = 0x1p-149F;
    drawn.levels = 1 << 22;
    return drawn;
  };
  return random_problem(rng, settings, 4, tiny);
}

SolvedProblem near_sums_problem(Rng& rng, std::int32_t policy, std::int64_t vocab) {
  constexpr std::uint64_t kPossible = 8;  // tokens of a row, or fewer
  constexpr std::uint64_t kLevels = 3072;
  Settings settings = random_settings(rng, policy);
  draw_sizes(rng, settings, {2, 4}, {vocab, vocab}, {5, 7});
  if (policy == BEAM_SEPARATE) settings.eos.clear();  // no room for more than stay
  const auto language = [seed = rng()](const Context& at, std::span<float> row) {
    std::ranges::fill(row, kForbidden);
    const std::uint64_t place = mixed(at.path ^ seed, static_cast<std::uint64_t>(at.item));
    for (std::uint64_t i = 0; i < kPossible; ++i) {
      const std::uint64_t number = mixed(place, i);
      float& value = row[number % row.size()];
      value = -static_cast<float>((number >> 32) % kLevels) / 1024;
      if (at.depth == 0) value = 2 * std::floor(value) - 0x1p24F;
    }
  };
  return solved_problem(settings, random_prompts(rng, 30), language);
}

SolvedProblem half_steps_problem(Rng& rng, std::int32_t policy, std::int64_t vocab) {
  constexpr float kStep = 0x1p-21F;  // of floats from 4 to 8
  Settings settings = random_settings(rng, policy);
  draw_sizes(rng, settings, {2, 4}, {vocab, vocab}, {2, 2});
  settings.penalty = BEAM_PENALTY_NONE;
  settings.eos.clear();  // no room for more than stay
  const auto language = [seed = rng(), beam = settings.beam](const Context& at,
                                                             std::span<float> row) {
    const std::uint64_t first = mixed(seed, static_cast<std::uint64_t>(at.item)) % row.size();
    std::int64_t rank = 0;
    while (at.depth > 0 && (first + static_cast<std::size_t>(rank)) % row.size() !=
                               static_cast<std::size_t>(at.last))
      ++rank;
    if (at.depth == 0) {
      std::ranges::fill(row, kForbidden);
      for (std::int64_t i = 0; i < beam; ++i)
        row[(first + static_cast<std::size_t>(i)) % row.size()] =
            i == 0 ? 0 : -kStep * (0.5F + static_cast<float>(i) / 8);
      return;
    }
    const float best = -4.25F - static_cast<float>(first % 512) / 256;
    for (std::size_t token = 0; token < row.size(); ++token)
      row[token] = rank == 0 && mixed(first, token) % 8 == 0 ? best : -64;
    if (rank > 0) row[mixed(at.path, seed) % row.size()] = best + kStep;
  };
  return solved_problem(settings, random_prompts(rng, 9), language);
}

SolvedProblem vast_scores_problem(Rng& rng, std::int32_t policy) {
  Settings settings = random_settings(rng, policy);
  draw_sizes(rng, settings, {2, 4}, {4, 9}, {2, 2});
  settings.penalty = BEAM_PENALTY_LENGTH;
  settings.alpha = -rng.uniform(1005, 1017);  // sums are above -32
  return random_problem(rng, settings, 8);
}

SolvedProblem far_equals_problem(Rng& rng, std::int32_t policy, std::int64_t vocab) {
  constexpr std::size_t kEquals = 3;
  Settings settings;
  settings.policy = policy;
  settings.vocab = vocab;
  settings.beam = settings.n_return = kEquals + 1;
  settings.max_new = 2;
  settings.penalty = BEAM_PENALTY_NONE;
  settings.eos = {static_cast<std::int32_t>(vocab / 2)};
  const auto language = [](const Context& at, std::span<float> row) {
    std::ranges::fill(row, kForbidden);
    const std::size_t roots = at.item == 0 ? 2 : 1;
    const std::span<float> possible = at.depth == 0  ? row.first(roots)
                                      : at.last == 0 ? row.last(kEquals)
                                                     : row.first(kEquals);
    std::ranges::fill(possible, at.depth == 0 ? -1.0F : -2.0F);
    possible[0] = -1;
  };
  return solved_problem(settings, random_prompts(rng, 2), language);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
