// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "contract.h"
#include "harness/core/rng.h"
#include "language.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

inline constexpr std::array kPolicies{BEAM_POOLED, BEAM_SEPARATE};

/// What all items of a call have in common. Names and meanings are the contract's.
struct Settings {
  std::int64_t beam = 2;
  std::int64_t vocab = 4;
  std::int64_t max_new = 3;
  std::int64_t min_new = 0;
  std::int64_t n_return = 2;
  std::vector<std::int32_t> eos{0};
  double alpha = 0;
  std::int32_t penalty = BEAM_PENALTY_LENGTH;
  std::int32_t policy = BEAM_SEPARATE;
  std::int32_t stop = BEAM_STOP_ESTIMATE;
  std::int32_t pad = 0;
  std::int32_t threads = 2;
};

/// "SEPARATE/BOUND, beam 3, length penalty 0.6": for findings.
std::string describe(const Settings& settings);

/// One call: `prompts` holds the length of each item's prompt.
struct Problem {
  Settings settings;
  std::vector<std::int64_t> prompts;
  Language language;

  std::int64_t batch() const { return static_cast<std::int64_t>(prompts.size()); }
};

/// A problem and the right answer for each of its items.
struct SolvedProblem {
  Problem problem;
  std::vector<Expected> want;
};

/// A problem with a language of its own. Its decisions may not hang on rounding.
SolvedProblem solved_problem(const Settings& settings, std::vector<std::int64_t> prompts,
                             Language language);

using DrawLanguage = std::function<RandomLanguage(Rng&)>;

/// Says whether a drawn item is of use: its language, as item 0, and its right answer.
using Accept = std::function<bool(const Language&, const Expected&)>;

/// Accepts items that end otherwise under other settings.
Accept unlike(const Settings& other);

/// `batch` random items whose answers do not hang on rounding and that are all acceptable.
SolvedProblem random_problem(Rng& rng, const Settings& settings, std::int64_t batch,
                             const DrawLanguage& draw = draw_language, const Accept& accept = {});

/// Settings around all borders of the contract: beams that outnumber the tokens, one beam, no EOS,
/// several of them, a negative alpha. The policy is given, the stop rule drawn.
Settings random_settings(Rng& rng, std::int32_t policy);

struct Range {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Draws sizes in these ranges anew. All hypotheses are returned, there is one EOS and no least
/// length: hypotheses of several lengths meet.
void draw_sizes(Rng& rng, Settings& settings, const Range& beam, const Range& vocab,
                const Range& max_new);

/// Different tokens: any, in any order, or one from each part of the vocabulary.
std::vector<std::int32_t> distinct_tokens(Rng& rng, std::int64_t count, std::int64_t vocab);
std::vector<std::int32_t> spread_tokens(Rng& rng, std::int64_t count, std::int64_t vocab);

/// `count` prompts of 1 to 5000 tokens.
std::vector<std::int64_t> random_prompts(Rng& rng, std::int64_t count);

/// The problem of some items of another one, in the given order.
Problem part_of(const Problem& problem, const std::vector<std::int64_t>& items);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
