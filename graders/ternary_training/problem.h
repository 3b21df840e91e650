// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "checkpoint.h"
#include "graders/kit/call_options.h"
#include "harness/core/rng.h"
#include "likelihood.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Latent weights to be quantised.
struct QuantizeProblem {
  std::int64_t rows = 1;
  std::int64_t columns = 4;
  std::int64_t group = 4;
  std::vector<float> weight;
};

/// One linear layer: the latent weights, what goes in and what comes back.
struct LinearProblem {
  std::int64_t rows = 1;
  std::int64_t columns = 4;
  std::int64_t group = 4;
  std::int64_t count = 1;
  std::vector<float> weight;           // [rows][columns]
  std::vector<float> x;                // [count][columns]
  std::vector<float> output_gradient;  // [count][rows]
};

/// One call of ternary_train: what is trained, on what, and for how long.
struct TrainingRequest {
  TernaryModel model{};
  std::vector<Text> documents;
  double max_seconds = -1;
  std::int64_t max_tokens = -1;
  std::uint64_t seed = 1;
  kit::CallOptions options{.threads = 1};
  std::int64_t spare_bytes = 0;  // of checkpoint_capacity, beyond what is needed

  /// Asked at every report; true asks to end, by the answer. Absent: train on.
  std::function<bool(const TernaryProgress&, double seconds)> enough;
  std::int64_t answer = 1;
  bool null_listener = false;
};

/// Group sizes that occur, and some that vector code does not expect.
constexpr std::int64_t kGroups[] = {4, 12, 32, 64, 128, 256};

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

/// A checkpoint that nobody trained: codes a third each, scales within a factor of four of what
/// keeps activations of size one, one group in 30 zero, gains around one. `sharpness` multiplies
/// the scales of queries and keys: the larger, the fewer positions attention picks.
Checkpoint random_checkpoint(Rng& rng, const TernaryModel& model, double sharpness = 1);

/// For very long windows: what attention adds to the stream is smaller than it. Where it left
/// little of the stream, a norm would make the roundings of sums over thousands of positions large,
/// and the tolerance with them.
Checkpoint steady_checkpoint(Rng& rng, const TernaryModel& model, double sharpness);

/// Of the first layer: another model, in whose file the same words stand at other places.
void exchange_keys_and_values(Checkpoint& checkpoint);

/// Tokens of the vocabulary, drawn one by one.
Text random_text(Rng& rng, std::int64_t vocab, std::int64_t length);

/// Text for a model: from a random source over its first `symbols` ids, which small models learn a
/// part of at once.
Text source_text(Rng& rng, std::int64_t symbols, std::int64_t tokens);

/// A model whose full window has more than 65,536 numbers wherever each position has a vector;
/// its forward pass takes some 10^8 products.
inline constexpr TernaryModel kWideModel{20, 256, 1, 4, 256, 257, 64};

/// A model that trains in milliseconds: vocab 24, width 32, one layer.
TernaryModel small_model();

/// A request for the small model: one document of 1,500 tokens, ended by tokens alone.
TrainingRequest small_request(Rng& rng, std::int64_t max_tokens = 2'000);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
