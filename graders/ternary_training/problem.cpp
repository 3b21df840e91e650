// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <algorithm>
#include <cmath>

#include "half.h"
#include "markov.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

std::vector<float> normal_values(Rng& rng, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.normal()));
  return values;
}

TernaryMatrix random_matrix(Rng& rng, const Tensor& tensor, std::int64_t group, double scale) {
  TernaryMatrix matrix{tensor.rows, tensor.columns, {}, {}};
  for (std::int64_t i = 0; i < tensor.rows * tensor.columns; ++i)
    matrix.codes.push_back(static_cast<std::int8_t>(rng.integer(-1, 1)));
  for (std::int64_t i = 0; i < tensor.rows * tensor.columns / group; ++i)
    matrix.scales.push_back(rng.chance(1.0 / 30) ? std::uint16_t{0}
                                                 : nearest_half(scale * rng.uniform(0.5, 2)));
  return matrix;
}

}  // namespace

std::vector<float> coarse_weights(Rng& rng, std::int64_t count, float unit) {
  std::vector<float> weight;
  for (std::int64_t i = 0; i < count; ++i)
    weight.push_back(unit *
                     static_cast<float>(std::round(std::clamp(rng.normal(), -3.9, 3.9) * 1024)));
  return weight;
}

QuantizeProblem coarse_matrix(Rng& rng, std::int64_t rows, std::int64_t groups,
                              std::int64_t group) {
  return {rows, groups * group, group, coarse_weights(rng, rows * groups * group)};
}

QuantizeProblem fine_matrix(Rng& rng, std::int64_t rows, std::int64_t groups, std::int64_t group) {
  QuantizeProblem problem{rows, groups * group, group, {}};
  for (std::int64_t i = 0; i < rows * problem.columns; ++i)
    problem.weight.push_back(static_cast<float>(rng.uniform(-1, 1)));
  return problem;
}

LinearProblem linear_problem(Rng& rng, std::int64_t rows, std::int64_t groups, std::int64_t group,
                             std::int64_t count) {
  LinearProblem problem{rows, groups * group, group, count, {}, {}, {}};
  problem.weight = coarse_weights(rng, rows * problem.columns);
  problem.x = normal_values(rng, count * problem.columns);
  problem.output_gradient = normal_values(rng, count * rows);
  return problem;
}

Checkpoint random_checkpoint(Rng& rng, const TernaryModel& model, double sharpness) {
  Checkpoint checkpoint{model, {}, {}};
  const std::vector<Tensor> tensors = tensors_of(model);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool table = i == 0;
    const auto which = static_cast<int>((i - 1) % kLayerTensors);
    const bool scored = !table && i + 1 < tensors.size() && (which == kQuery || which == kKey);
    const double size = table ? 1 : 1 / std::sqrt(static_cast<double>(tensors[i].columns));
    checkpoint.matrices.push_back(
        random_matrix(rng, tensors[i], model.group, size * (scored ? sharpness : 1)));
  }
  for (std::int64_t i = 0; i < gains_of(model); ++i)
    checkpoint.gains.push_back(
        static_cast<float>(rng.uniform(0.5, 1.5) * (rng.chance(0.1) ? -1 : 1)));
  return checkpoint;
}

Checkpoint steady_checkpoint(Rng& rng, const TernaryModel& model, double sharpness) {
  Checkpoint checkpoint = random_checkpoint(rng, model, sharpness);
  TernaryMatrix& embedding = checkpoint.matrices[0];
  for (std::int8_t& code : embedding.codes)
    if (code == 0) code = rng.chance(0.5) ? 1 : -1;
  std::ranges::fill(embedding.scales, nearest_half(1));
  for (const LayerTensor which : {kOut, kDown})
    std::ranges::fill(checkpoint.matrices[first_of(0) + which].scales, nearest_half(0.125));
  return checkpoint;
}

void exchange_keys_and_values(Checkpoint& checkpoint) {
  std::swap(checkpoint.matrices[first_of(0) + kKey], checkpoint.matrices[first_of(0) + kValue]);
}

Text random_text(Rng& rng, std::int64_t vocab, std::int64_t length) {
  Text text;
  for (std::int64_t i = 0; i < length; ++i)
    text.push_back(static_cast<std::uint16_t>(rng.integer(0, vocab - 1)));
  return text;
}

TernaryModel small_model() {
  return {24, 32, 1, 2, 64, 16, 32};
}

Text source_text(Rng& rng, std::int64_t symbols, std::int64_t tokens) {
  const MarkovSource source(rng, symbols, 0.15);
  return source.draw(rng, tokens);
}

TrainingRequest small_request(Rng& rng, std::int64_t max_tokens) {
  TrainingRequest request;
  request.model = small_model();
  request.documents = {source_text(rng, request.model.vocab, 1'500)};
  request.max_tokens = max_tokens;
  request.seed = rng();
  return request;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
