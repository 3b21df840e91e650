#pragma once

#include <cstdint>
#include <vector>

#include "gradients.h"
#include "harness/core/rng.h"
#include "unit.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Latent weights that are multiples of `unit` and below 4096 of it in size, spread like a trained
/// matrix. Sums of a group are exact in float32 in any order, so that what is asked about codes and
/// scales is not a question about the accuracy of a mean.
std::vector<float> coarse_weights(Rng& rng, std::int64_t count, float unit = 0x1p-10f);

/// A matrix of coarse weights.
QuantizeProblem coarse_matrix(Rng& rng, std::int64_t rows, std::int64_t groups, std::int64_t group);

/// A matrix of weights between -1 and 1 with full mantissas: of a thousand means, one or so is so
/// near to the middle of two halves that a float32 sum ends up on the wrong side.
QuantizeProblem fine_matrix(Rng& rng, std::int64_t rows, std::int64_t groups, std::int64_t group);

/// A layer of coarse latent weights, with inputs and gradients of size one.
LinearProblem linear_problem(Rng& rng, std::int64_t rows, std::int64_t groups, std::int64_t group,
                             std::int64_t count);

/// Group sizes that occur, and some that vector code does not expect.
constexpr std::int64_t kGroups[] = {4, 12, 32, 64, 128, 256};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
