// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "graders/kit/strided.h"
#include "harness/core/rng.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using Sizes = kit::AttentionSizes;

/// One input. Numbers are NaN until a generator fills them in; scale is 1 / sqrt(dim) until then.
struct Problem {
  explicit Problem(const Sizes& sizes);

  kit::AttentionProblem form;  // sizes, scale, softcap and mask; its views stay empty
  kit::Tensor q, k, v, dout;
  kit::Tensor o;                 // what the forward pass left: see attend()
  std::vector<float> lse, dlse;  // [batch][q_heads][q_len]; dlse may be empty: none

  std::int64_t q_rows() const { return form.batch * form.q_heads * form.q_len; }
};

/// Normal numbers in q, k, v and dout; scores have about this standard deviation, which decides how
/// few keys share most of a row's weight. scale is near 1 / sqrt(dim).
Problem random_problem(Rng& rng, const Sizes& sizes, double score_deviation = 3);

/// Some numbers of q, k, v and dout each become others, never the first or the last: o and lse
/// follow.
void change_some(Problem& problem, Rng& rng);

/// Fills o and lse from the rest, in float64, rounded to float32.
void attend(Problem& problem);

/// A random problem, causal or not, after the forward pass.
Problem attended_problem(Rng& rng, const Sizes& sizes);

/// The same with drawn sizes, each length up to 70 above its low one.
Problem attended_problem(Rng& rng, std::int64_t q_low, std::int64_t k_low);

/// These lengths, with a few heads, batch entries and columns, drawn.
Sizes drawn_sizes(Rng& rng, std::int64_t q_len, std::int64_t k_len);

/// One length near a multiple of the tiles that solutions use, on either side of it.
std::int64_t near_tile_edge(Rng& rng, std::int64_t smallest, std::int64_t largest);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
