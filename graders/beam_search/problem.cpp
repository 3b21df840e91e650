// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

#include "harness/core/error.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Draws of one item. Among 1000 settings of batch_independence, the hardest had an item of use in 2
// of 1500 draws.
constexpr int kMostDraws = 100'000;

/// Settings that the contract forbids may be refused by a solution.
void require_valid(const Settings& s) {
  const bool sizes = s.beam >= 1 && s.vocab >= 1 && s.max_new >= 0 && s.threads >= 1;
  const bool limits =
      s.min_new >= 0 && s.min_new <= s.max_new && s.n_return >= 1 && s.n_return <= s.beam;
  const bool tokens =
      std::ranges::all_of(s.eos, [&](std::int32_t token) { return token >= 0 && token < s.vocab; });
  if (!sizes || !limits || !tokens)
    throw Broken(OwnFault::bug, fmt::format("a search that the contract forbids: {}", describe(s)));
}

double random_alpha(Rng& rng) {
  constexpr std::array kUsual{0.0, 0.6, 1.0, 2.0, -0.5};
  const auto pick = static_cast<std::size_t>(rng.integer(0, 6));
  return pick < kUsual.size() ? kUsual[pick] : rng.uniform(-1, 2.5);
}

RandomLanguage acceptable_language(Rng& rng, const Settings& settings, const DrawLanguage& draw,
                                   const Accept& accept, Expected& want) {
  for (int i = 0; i < kMostDraws; ++i) {
    RandomLanguage drawn = draw(rng);
    const Language alone = random_language({drawn}, settings.eos);
    want = decode(settings, alone, 0);
    if (!want.close_call && (!accept || accept(alone, want))) return drawn;
  }
  throw Broken(OwnFault::bug,
               fmt::format("no acceptable item in {} draws: {}", kMostDraws, describe(settings)));
}

}  // namespace

std::string describe(const Settings& s) {
  constexpr std::array kPenalties{"no penalty", "length penalty", "GNMT penalty"};
  constexpr std::array kStops{"ESTIMATE", "FULL", "BOUND"};
  const std::string policy =
      s.policy == BEAM_POOLED
          ? "POOLED"
          : fmt::format("SEPARATE/{}", kStops.at(static_cast<std::size_t>(s.stop)));
  return fmt::format(
      "{}, beam {}, vocab {}, max_new {}, min_new {}, n_return {}, eos [{}], {} alpha {:.17g}",
      policy, s.beam, s.vocab, s.max_new, s.min_new, s.n_return, fmt::join(s.eos, " "),
      kPenalties.at(static_cast<std::size_t>(s.penalty)), s.alpha);
}

SolvedProblem solved_problem(const Settings& settings, std::vector<std::int64_t> prompts,
                             Language language) {
  require_valid(settings);
  SolvedProblem solved{{settings, std::move(prompts), std::move(language)}, {}};
  solved.want = expect(solved.problem);
  for (const Expected& want : solved.want)
    if (want.close_call)
      throw Broken(OwnFault::bug,
                   fmt::format("a search hangs on rounding: {}", describe(settings)));
  return solved;
}

Accept unlike(const Settings& other) {
  return [other](const Language& language, const Expected& want) {
    return !same_result(decode(other, language, 0), want);
  };
}

SolvedProblem random_problem(Rng& rng, const Settings& settings, std::int64_t batch,
                             const DrawLanguage& draw, const Accept& accept) {
  require_valid(settings);
  SolvedProblem solved{{settings, random_prompts(rng, batch), {}}, {}};
  solved.want.resize(static_cast<std::size_t>(batch));
  std::vector<RandomLanguage> items;
  for (Expected& want : solved.want)
    items.push_back(acceptable_language(rng, settings, draw, accept, want));
  solved.problem.language = random_language(std::move(items), settings.eos);
  return solved;
}

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

void draw_sizes(Rng& rng, Settings& settings, const Range& beam, const Range& vocab,
                const Range& max_new) {
  settings.beam = settings.n_return = rng.integer(beam.low, beam.high);
  settings.vocab = rng.integer(vocab.low, vocab.high);
  settings.max_new = rng.integer(max_new.low, max_new.high);
  settings.min_new = 0;
  settings.eos = spread_tokens(rng, 1, settings.vocab);
}

std::vector<std::int32_t> distinct_tokens(Rng& rng, std::int64_t count, std::int64_t vocab) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(vocab));
  std::iota(all.begin(), all.end(), 0);
  rng.shuffle(all);
  all.resize(static_cast<std::size_t>(std::min(count, vocab)));
  return all;
}

std::vector<std::int32_t> spread_tokens(Rng& rng, std::int64_t count, std::int64_t vocab) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < count; ++i)
    tokens.push_back(
        static_cast<std::int32_t>(rng.integer(i * vocab / count, (i + 1) * vocab / count - 1)));
  return tokens;
}

std::vector<std::int64_t> random_prompts(Rng& rng, std::int64_t count) {
  std::vector<std::int64_t> prompts(static_cast<std::size_t>(count));
  for (auto& prompt : prompts) prompt = rng.chance(0.5) ? rng.integer(1, 8) : rng.integer(9, 5000);
  return prompts;
}

Problem part_of(const Problem& problem, const std::vector<std::int64_t>& items) {
  Problem part{problem.settings, {}, {}};
  for (const std::int64_t item : items)
    part.prompts.push_back(problem.prompts.at(static_cast<std::size_t>(item)));
  part.language = [whole = problem.language, items](Context at, std::span<float> row) {
    at.item = items.at(static_cast<std::size_t>(at.item));
    whole(at, row);
  };
  return part;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
