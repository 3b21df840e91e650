// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graders/kit/domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What the contract allows of a search and of the model that it asks: the classes of every
/// argument, and what of them goes together. What the classes mean is in drawing.h; that of
/// "before" is left to whoever asks.
const kit::Domain& domain();

/// How large a case is.
struct Sizes {
  std::int64_t batch = 0;
  std::int64_t beam = 0;
  std::int64_t vocab = 0;
  std::int64_t max_new = 0;
};

/// Sizes of these classes. Those of which a few do are lowered until the case is cheap enough.
Sizes sizes_of(const kit::Assignment& choice, Rng& rng);

/// Few different sums, so that many are equal.
bool coarse(const kit::Assignment& choice);

/// lp(n) is 1 for every length.
bool flat(const kit::Assignment& choice);

/// Scores of different lengths may be equal by chance, although lp is not 1: rounding would decide.
bool rational(const kit::Assignment& choice);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
