#include "drawing.h"

#include <cmath>

#include "half.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

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

Checkpoint random_checkpoint(Rng& rng, const TernaryModel& model, double loudness) {
  Checkpoint checkpoint{model, {}, {}};
  const std::vector<Tensor> tensors = tensors_of(model);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool table = i == 0;
    const auto which = static_cast<int>((i - 1) % kLayerTensors);
    const bool scored = !table && i + 1 < tensors.size() && (which == kQuery || which == kKey);
    const double size = table ? 1 : 1 / std::sqrt(static_cast<double>(tensors[i].columns));
    checkpoint.matrices.push_back(
        random_matrix(rng, tensors[i], model.group, size * (scored ? loudness : 1)));
  }
  for (std::int64_t i = 0; i < gains_of(model); ++i)
    checkpoint.gains.push_back(
        static_cast<float>(rng.uniform(0.5, 1.5) * (rng.chance(0.1) ? -1 : 1)));
  return checkpoint;
}

Text random_text(Rng& rng, std::int64_t vocab, std::int64_t length) {
  Text text;
  for (std::int64_t i = 0; i < length; ++i)
    text.push_back(static_cast<std::uint16_t>(rng.integer(0, vocab - 1)));
  return text;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
