// SPDX-License-Identifier: Apache-2.0
#pragma once

// From latent weights to the weights that the model computes with.
#include "layout.h"
#include "model.h"
#include "quantizer.h"

namespace ternary {

/// The scale of a group in training and in the checkpoint: the canonical one, if it is finite.
inline std::uint16_t training_scale(const float* w, std::int64_t count) {
  return std::min(group_scale(w, count), kLargestHalf);
}

/// Quantises part `part` of `parts` of all weights.
inline void quantise(const Layout& layout, float* parameters, Model& model, int part, int parts) {
  for (std::size_t index = 0; index < model.shapes.size(); ++index) {
    const MatrixShape shape = model.shapes[index];
    const Rows latent = layout.rows(parameters, static_cast<std::int64_t>(index));
    Table rows(kLanes, shape.columns);
    const std::int64_t blocks = (shape.rows + kLanes - 1) / kLanes;
    for (std::int64_t block = blocks * part / parts; block < blocks * (part + 1) / parts; ++block) {
      const std::int64_t first = block * kLanes;
      const std::int64_t count = std::min<std::int64_t>(kLanes, shape.rows - first);
      for (std::int64_t r = 0; r < count; ++r)
        for (std::int64_t c = 0; c < shape.columns; c += model.sizes.group) {
          const float* w = latent[first + r] + c;
          write_weights(w, model.sizes.group, training_scale(w, model.sizes.group), rows[r] + c);
        }
      model.set_rows(static_cast<std::int64_t>(index), first, count, rows.rows());
    }
  }
  if (part == 0) std::copy_n(parameters + layout.gains, gains_of(model.sizes), model.gains.data());
}

}  // namespace ternary
