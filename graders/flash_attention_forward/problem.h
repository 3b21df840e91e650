// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "graders/kit/strided.h"
#include "harness/core/rng.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using Sizes = kit::AttentionSizes;

/// One input. Numbers are NaN until a generator fills them in; scale is 1 / sqrt(dim) unless it is
/// changed before that.
struct Problem {
  explicit Problem(const Sizes& sizes);

  kit::AttentionProblem form;  // sizes, scale, softcap and mask; its views stay empty
  kit::Tensor q, k, v;

  kit::AttentionProblem view() const;  // form, with the tensors in its views
};

/// A number for a row: (batch, head, index).
using RowNumber = std::function<double(std::int64_t, std::int64_t, std::int64_t)>;

/// Values: normal numbers, scaled and shifted differently for every head, so that a head that is
/// read for another shows.
void fill_values(Problem& problem, Rng& rng);

/// Makes values as large as the contract allows: nearly 1e36, summed over the keys.
void grow_values(Problem& problem);

/// Makes values 1e35 in all where the score of their key, which follows `heights`, is so far below
/// the largest that its weight is 0 in float32: whoever gives such a key the least weight shows.
void grow_unweighted(Problem& problem, const std::vector<double>& heights);

/// Queries and keys whose scores are normal with this deviation, using dimensions `first_dim` and
/// up; those below are 0. Deviation 3 to 4 makes the softmax peaked: 5 to 50 keys matter.
void fill_scores(Problem& problem, Rng& rng, double deviation, std::int64_t first_dim = 0);

/// fill_scores with 3.5 and fill_values: what most cases start from.
void fill_sharp(Problem& problem, Rng& rng);

/// As sharp as fill_sharp has it, with the same numbers again and again, which are made sooner.
void fill_repeating(Problem& problem, Rng& rng);

/// Uses one dimension to add query_part(b, h, i) * key_part(b, g, j) to every score.
void add_to_scores(Problem& problem, std::int64_t dim, const RowNumber& query_part,
                   const RowNumber& key_part);

/// A scale that is not 1 / sqrt(dim), before scores are filled in.
void change_scale(Problem& problem, Rng& rng);

/// Values that name their key: column j % value_dim of row j is 1, the others 0.
void fill_one_hot_values(Problem& problem);

/// How the scores of a row move along the keys.
enum class Profile {
  gentle_ramp,  // 20 to 60 in all
  steep_ramp,   // about 1 a key
  stairs,       // a few jumps of 8 to 25 at random places
  last_spike,   // flat, one key far above the rest at the end
};
constexpr Profile kProfiles[] = {Profile::gentle_ramp, Profile::steep_ramp, Profile::stairs,
                                 Profile::last_spike};
const char* name_of(Profile profile);

/// The profile's height at every key, never falling, first 0.
std::vector<double> heights(Profile profile, std::int64_t keys, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
