// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contract.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A matrix of the model, as the checkpoint lists them.
struct Tensor {
  std::string name;  // "embedding", "layer 2 Wq", "head"
  std::int64_t rows;
  std::int64_t columns;
};

/// All matrices in the order of the checkpoint.
std::vector<Tensor> tensors_of(const TernaryModel& model);

/// Where a layer's matrices stand in that list: tensors[first_of(layer) + kQuery].
enum LayerTensor { kQuery, kKey, kValue, kOut, kGate, kUp, kDown, kLayerTensors };
inline std::size_t first_of(std::int64_t layer) {
  return 1 + static_cast<std::size_t>(layer * kLayerTensors);
}

std::int64_t gains_of(const TernaryModel& model);    // floats, in all
std::int64_t weights_of(const TernaryModel& model);  // codes, in all
std::int64_t checkpoint_bytes_of(const TernaryModel& model);

bool same_model(const TernaryModel& a, const TernaryModel& b);

/// "vocab 512, width 128, 4 layers of 4 heads, hidden 384, context 128, groups of 128"
std::string describe(const TernaryModel& model);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
