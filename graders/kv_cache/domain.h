// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graders/kit/domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What the contract allows of a cache, of how it came to be, and of attention over it: the classes
/// of every argument, and what of them goes together. Cases are small, and nothing that a float32
/// solution has to form leaves the range of float. What the classes mean is in drawing.h; that of
/// "before" is left to whoever asks.
const kit::Domain& domain();

/// The same for merges.
const kit::Domain& merge_domain();

/// The first token of a sequence holds a NaN or an infinity, which nobody is to see.
bool spoilt(const kit::Assignment& choice);

/// Keys and queries are made for the scores that they shall have.
bool scores_made(const kit::Assignment& choice);

/// The typical size of a number that is stored.
double magnitude(const kit::Assignment& choice);

// Tokens beyond the lengths that some histories end with, at most.
inline constexpr std::int64_t kAppended = 3;

}  // namespace gauntlet::GAUNTLET_CHALLENGE
