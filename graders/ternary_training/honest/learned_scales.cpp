// strategy: scales are trained of their own, as in learned step size quantisation; AdamW for both
// uses: ternary_train may choose codes and scales in another way than ternary_quantize
// SPDX-License-Identifier: Apache-2.0
#include "student.h"

namespace {

using namespace common;

class Method {
 public:
  Method(Size size, int64_t group, Random& random)
      : group_(static_cast<size_t>(group)),
        latent_(static_cast<size_t>(size.rows * size.columns)),
        log_scale_(latent_.value.size() / group_) {
    scatter(random, size, latent_.value);
    packed_.trits.resize(latent_.value.size());
    packed_.scales.resize(log_scale_.value.size());
    for (float& s : log_scale_.value)
      s = std::log(0.8f / std::sqrt(static_cast<float>(size.columns)));
  }

  const PackedMatrix& packed() const { return packed_; }

  void unfold(Floats& weights, double) {
    for (size_t g = 0; g < packed_.scales.size(); ++g)
      packed_.scales[g] = nearest_half(std::exp(std::clamp(log_scale_.value[g], -12.0f, 11.0f)));
    for (size_t i = 0; i < weights.size(); ++i) {
      const double scale = value_of_half(packed_.scales[i / group_]);
      const double w = latent_.value[i];
      packed_.trits[i] = static_cast<int8_t>((w > scale / 2) - (w < -scale / 2));
    }
    common::unfold(packed_, static_cast<int64_t>(group_), weights);
  }

  /// A scale multiplies its trits; in the trits' latent numbers the quantiser counts as identity.
  void update(const Floats& gradient, float rate, int64_t step) {
    Floats scale_gradient(packed_.scales.size());
    for (size_t i = 0; i < gradient.size(); ++i)
      scale_gradient[i / group_] += gradient[i] * static_cast<float>(packed_.trits[i]);
    log_scale_.update(scale_gradient, 4e-3f * rate, step);
    latent_.update(gradient, 4e-3f * rate, step);
  }

 private:
  size_t group_;
  Adam latent_, log_scale_;
  PackedMatrix packed_;
};

}  // namespace

extern "C" int64_t ternary_train(const TernaryTrainArgs* args) {
  return train_by<Method>(*args);
}
