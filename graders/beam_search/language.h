// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "harness/core/rng.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What a language model knows of a hypothesis. The path is a hash of the tokens: long hypotheses
/// cost no more than short ones.
struct Context {
  std::int64_t item = 0;
  std::int64_t depth = 0;  // generated tokens
  std::uint64_t path = 0;  // of the generated tokens, in order; the same for every item
  std::int32_t last = -1;  // latest generated token

  Context extended(std::int32_t token) const;
};

Context root_of(std::int64_t item);
std::uint64_t path_of(std::span<const std::int32_t> tokens);

/// The random numbers of a hypothesis. Who has seen them knows nothing of another's.
Rng numbers_at(const Seed& seed, const Context& at);

/// A language model: writes the log-probabilities of what follows a hypothesis.
using Language = std::function<void(const Context&, std::span<float>)>;

/// Mixes two numbers into one that depends on all bits of both.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

/// How the random log-probabilities of an item are drawn: minus a whole number below `levels`,
/// times `unit`, a power of two of 1/1024 or more, so that sums of them are exact in float64.
struct RandomLanguage {
  Seed seed;
  float unit = 1.0F / 1024;
  std::int64_t levels = 6'144;
  int eos_favour = 1;      // EOS tokens lose by this factor less: 4 makes them likely
  double forbidden = 0;    // share of tokens that are -infinity
  std::int64_t slump = 0;  // every row is lower by up to this many units, the same for all tokens
};

RandomLanguage draw_language(Rng& rng);

/// Of such items some are done at once, and others go on to the end.
RandomLanguage draw_uneven_language(Rng& rng);

/// Item i answers as items[i] says.
Language random_language(std::vector<RandomLanguage> items, std::vector<std::int32_t> eos);

/// The same, after a first token that costs `offset` more, a power of two: all that follows is
/// small beside it. The first row becomes even numbers, so that sums stay exact in float64.
Language far_down(Language language, float offset);

/// The same, after a first token so far down that float64 sums lose what follows, as long as its
/// log-probs are above -32: all of it, so that extensions of a hypothesis are all equal, or most of
/// it, so that some are. Sums of 11 bits more, in a long double, would tell most of them apart.
enum class Lost { all, most };
Language lost_in_the_sum(Language language, Lost lost = Lost::all);

/// The same, but for three of four tokens that are possible, or all but two or so of a long row,
/// which are the lowest float there is.
Language mostly_lowest(Language language);

/// The same for all hypotheses of an item that are as long: by the tokens of none of them. Their
/// states may be one (StateNumbers::converging).
Language converging(Language language);

/// The same for all hypotheses of an item that end with the same token. Their states may all be the
/// prompt's (StateNumbers::of_the_prompt).
Language forgetful(Language language);

/// Every row is drawn by itself when it is first asked for, and copied at memory speed after that:
/// whoever decodes before the clock runs has paid for it. For large vocabularies.
Language large_language(Rng& rng);

/// The same, but that these are always among the best, and no less exact: 16 bits further down.
Language with_ids_ahead(Language language, std::vector<std::int32_t> eos);

/// Log-probabilities by the tokens generated so far, and one row for all other hypotheses.
struct Table {
  std::map<std::vector<std::int32_t>, std::vector<float>> rows;
  std::vector<float> otherwise;
};

/// Item i is tables[i].
Language table_language(const std::vector<Table>& tables);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
