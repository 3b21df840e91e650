#include "cases.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

#include "harness/core/error.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Draws of one item. Among 1000 settings of batch_independence, the hardest had an item of use in 2
// of 1500 draws.
constexpr int kPatience = 100'000;

std::vector<std::int32_t> distinct_tokens(Rng& rng, std::int64_t count, std::int64_t vocab) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(vocab));
  std::iota(all.begin(), all.end(), 0);
  rng.shuffle(all);
  all.resize(static_cast<std::size_t>(std::min(count, vocab)));
  return all;
}

double random_alpha(Rng& rng) {
  constexpr std::array kUsual{0.0, 0.6, 1.0, 2.0, -0.5};
  const auto pick = static_cast<std::size_t>(rng.integer(0, 6));
  return pick < kUsual.size() ? kUsual[pick] : rng.uniform(-1, 2.5);
}

Dice acceptable_dice(Rng& rng, const Settings& settings, const DrawDice& draw, const Accept& accept,
                     Decoded& want) {
  for (int i = 0; i < kPatience; ++i) {
    Dice dice = draw(rng);
    const Language alone = dice_language({dice}, settings.eos);
    want = decode(settings, alone, 0);
    if (!want.close_call && (!accept || accept(alone, want))) return dice;
  }
  throw Broken(OwnFault::bug,
               fmt::format("no acceptable item in {} draws: {}", kPatience, describe(settings)));
}

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

Settings random_settings(Rng& rng, std::int32_t policy) {
  Settings settings;
  settings.policy = policy;
  settings.stop = static_cast<std::int32_t>(rng.integer(0, 2));
  settings.penalty = static_cast<std::int32_t>(rng.integer(0, 2));
  settings.alpha = random_alpha(rng);
  settings.beam = rng.chance(0.2) ? rng.integer(5, 9) : rng.integer(1, 4);
  settings.vocab = rng.chance(0.2) ? rng.integer(9, 40) : rng.integer(2, 8);
  settings.max_new = rng.integer(1, 7);
  settings.min_new = rng.chance(0.25) ? rng.integer(0, settings.max_new) : 0;
  settings.n_return = rng.chance(0.75) ? settings.beam : rng.integer(1, settings.beam);
  const std::int64_t eos = rng.chance(0.7) ? 1 : rng.integer(0, 4);
  settings.eos = distinct_tokens(rng, eos, settings.vocab);
  settings.pad = static_cast<std::int32_t>(rng.integer(-2, settings.vocab));
  settings.threads = static_cast<std::int32_t>(rng.integer(1, 3));
  return settings;
}

std::vector<std::int64_t> random_prompts(Rng& rng, std::int64_t count) {
  std::vector<std::int64_t> prompts(static_cast<std::size_t>(count));
  for (auto& prompt : prompts) prompt = rng.chance(0.5) ? rng.integer(1, 8) : rng.integer(9, 5000);
  return prompts;
}

Posed pose_random(Rng& rng, const Settings& settings, std::int64_t batch, const DrawDice& draw,
                  const Accept& accept) {
  require_valid(settings);
  Posed posed{{settings, random_prompts(rng, batch), {}}, {}};
  posed.want.resize(static_cast<std::size_t>(batch));
  std::vector<Dice> dice;
  for (Decoded& want : posed.want)
    dice.push_back(acceptable_dice(rng, settings, draw, accept, want));
  posed.problem.language = dice_language(std::move(dice), settings.eos);
  return posed;
}

Posed pose_directed(Rng& rng, const Directed& directed, std::int64_t batch) {
  Settings settings = directed.settings;
  settings.vocab += rng.integer(0, 5);
  settings.threads = static_cast<std::int32_t>(rng.integer(1, 3));
  settings.pad = static_cast<std::int32_t>(rng.integer(-1, settings.vocab - 1));
  const auto places = random_places(rng, directed.settings.vocab, settings.vocab);
  for (std::int32_t& eos : settings.eos) eos = places[static_cast<std::size_t>(eos)];
  std::vector<Table> tables;
  for (std::int64_t item = 0; item < batch; ++item) {
    const auto scale = static_cast<float>(1 << rng.integer(0, 3)) / 4;
    const auto wide = [&](const std::vector<float>& row) {
      return disguised(rng, row, places, settings.vocab, scale);
    };
    Table& table = tables.emplace_back();
    table.otherwise = wide(directed.table.otherwise);
    for (const auto& [tokens, row] : directed.table.rows) {
      std::vector<std::int32_t> moved;
      for (const std::int32_t token : tokens)
        moved.push_back(places[static_cast<std::size_t>(token)]);
      table.rows[moved] = wide(row);
    }
  }
  return pose(settings, random_prompts(rng, batch), table_language(tables));
}

Posed pose(const Settings& settings, std::vector<std::int64_t> prompts, Language language) {
  require_valid(settings);
  Posed posed{{settings, std::move(prompts), std::move(language)}, {}};
  posed.want = decode_all(posed.problem);
  for (const Decoded& want : posed.want)
    if (want.close_call)
      throw Broken(OwnFault::bug,
                   fmt::format("a posed search hangs on rounding: {}", describe(settings)));
  return posed;
}

bool same_result(const Decoded& a, const Decoded& b) {
  return a.steps == b.steps &&
         std::equal(a.best.begin(), a.best.end(), b.best.begin(), b.best.end(),
                    [](const Hypothesis& x, const Hypothesis& y) {
                      return x.tokens == y.tokens && x.score == y.score;
                    });
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
