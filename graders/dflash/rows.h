// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "harness/core/rng.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Rows of logits that loops in search of the largest get wrong: equals, infinities, the largest
/// and smallest numbers, zeros of both signs.
enum class RowKind {
  plain,
  forbidden,    // -infinity, but for the choice where that is not the first token
  infinite,     // the choice is infinite; so is all of the row where that is the first token
  above_all,    // the choice is infinite, the others are the largest number
  opposite,     // infinities of both signs
  far_down,     // all near the lowest number
  lowest,       // the lowest number beside -infinity
  float_apart,  // all but the choice are one float below it
  subnormal,
  zeros,     // of both signs, which are equal
  farthest,  // the largest number beside the lowest
};
inline constexpr std::array kRowKinds{RowKind::plain,     RowKind::forbidden,   RowKind::infinite,
                                      RowKind::above_all, RowKind::opposite,    RowKind::far_down,
                                      RowKind::lowest,    RowKind::float_apart, RowKind::subnormal,
                                      RowKind::zeros,     RowKind::farthest};

/// A row of the kind whose first largest logit stands at `best`, with equals behind it.
void write_row(std::span<float> row, std::size_t best, RowKind kind, Rng& rng);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
