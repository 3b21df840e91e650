// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adam (Kingma and Ba 2015). No weight decay: a latent weight's distance from the thresholds is
// how sure the model is of its code, and decay would pull all of them there.
#include <cmath>

#include "vectors.h"

namespace ternary {

class Optimizer {
 public:
  explicit Optimizer(std::int64_t count) : mean_(count), square_(count) {}

  /// Before the parts of an update.
  void begin_step(float rate) {
    ++steps_;
    rate_ = rate / static_cast<float>(1 - std::pow(kMeanMemory, steps_));
    square_scale_ = static_cast<float>(1 / (1 - std::pow(kSquareMemory, steps_)));
  }

  /// Parameters begin .. end - 1, multiples of kLanes; the gradient is multiplied by `scale`.
  void update(float* parameters, const float* gradient, float scale, std::int64_t begin,
              std::int64_t end) {
    float* mean = mean_.data();
    float* square = square_.data();
    for (std::int64_t i = begin; i < end; i += kLanes) {
      const Vec g = load(gradient + i) * scale;
      const Vec m = load(mean + i) * kMeanMemory + g * (1 - kMeanMemory);
      const Vec v = load(square + i) * kSquareMemory + g * g * (1 - kSquareMemory);
      store(mean + i, m);
      store(square + i, v);
      const Vec step = m * inverse_root_of(v * square_scale_ + kTiny);
      store(parameters + i, load(parameters + i) - rate_ * step);
    }
  }

 private:
  static constexpr float kMeanMemory = 0.9f;
  static constexpr float kSquareMemory = 0.95f;
  static constexpr float kTiny = 1e-16f;

  Floats mean_;
  Floats square_;
  int steps_ = 0;
  float rate_ = 0, square_scale_ = 0;
};

}  // namespace ternary
