// SPDX-License-Identifier: Apache-2.0
#include "directed.h"

#include <algorithm>
#include <fmt/format.h>

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
                             float scale) {
  const bool forbidden = rng.chance(0.5);
  std::vector<float> wide(static_cast<std::size_t>(vocab));
  for (float& value : wide)
    value = forbidden ? kForbidden : scale * static_cast<float>(-rng.integer(64, 128));
  for (std::size_t token = 0; token < row.size(); ++token)
    wide[static_cast<std::size_t>(places[token])] = scale * row[token];
  return wide;
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

SolvedProblem directed_problem(Rng& rng, const Directed& directed, std::int64_t batch) {
  Settings settings = directed.settings;
  settings.vocab += rng.integer(0, 5);
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
      return disguised(rng, row, places, settings.vocab, scale);
    };
    Table& table = tables.emplace_back();
    table.otherwise = wide(directed.table.otherwise);
    for (const auto& [tokens, row] : directed.table.rows) table.rows[moved(tokens)] = wide(row);
  }
  return solved_problem(settings, random_prompts(rng, batch), table_language(tables));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
