// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed format: bytes from latent weights, and a model from bytes.
#include <optional>

#include "layout.h"
#include "model.h"

namespace ternary {

/// The sizes of a checkpoint without errors.
std::optional<TernaryModel> sizes_of(const std::uint8_t* bytes, std::int64_t length);

/// Fills part `part` of `parts` of a model from a checkpoint without errors.
void read_weights(const std::uint8_t* bytes, Model& model, int part, int parts);

/// Writes checkpoint_length(m) bytes. `parameters` are latent weights and gains.
void write_checkpoint(const TernaryModel& m, const Layout& layout, float* parameters,
                      std::uint8_t* bytes);

}  // namespace ternary
