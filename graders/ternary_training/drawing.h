#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint.h"
#include "harness/core/rng.h"
#include "likelihood.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A checkpoint that nobody trained: codes a third each, scales within a factor of four of what
/// keeps activations of size one, one group in 30 zero, gains around one. `loudness` multiplies the
/// scales of queries and keys: the larger, the sharper attention is.
Checkpoint random_checkpoint(Rng& rng, const TernaryModel& model, double loudness = 1);

/// Tokens of the vocabulary, drawn one by one.
Text random_text(Rng& rng, std::int64_t vocab, std::int64_t length);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
