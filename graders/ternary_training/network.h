// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "checkpoint.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A checkpoint unpacked into float32, for evaluations of many thousand tokens: the perplexity that
/// a submission is judged by. Held against the float64 oracle and against another library.
class Network {
 public:
  explicit Network(const Checkpoint& checkpoint);

  /// Logits [position][vocab] of the positions from `first` on of one window of at most `context`
  /// tokens.
  std::vector<float> logits(std::span<const std::uint16_t> window, std::int64_t first = 0) const;

  const TernaryModel& model() const { return model_; }

 private:
  class Pass;  // of one window through the layers

  TernaryModel model_;
  std::vector<std::vector<float>> matrices_;  // in row order, as tensors_of(model) lists them
  std::vector<float> gains_;
  std::vector<float> cosine_, sine_;  // [context][half a head]
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
