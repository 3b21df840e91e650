// strategy: absmean; Lion (the sign of a blend of gradient and momentum) instead of Adam
// uses: ternary_train may train in any way, here without Adam; the checkpoint is not that of
// another recipe
// SPDX-License-Identifier: Apache-2.0
#include "student.h"

namespace {

using namespace common;

class Method {
 public:
  Method(Size size, int64_t group, Random& random)
      : group_(group),
        latent_(static_cast<size_t>(size.rows * size.columns)),
        momentum_(latent_.size()) {
    scatter(random, size, latent_);
  }

  const PackedMatrix& packed() const { return packed_; }

  void unfold(Floats& weights, double) {
    quantise(latent_.data(), static_cast<int64_t>(weights.size()), group_, packed_);
    common::unfold(packed_, group_, weights);
  }

  void update(const Floats& gradient, float rate, int64_t) {
    for (size_t i = 0; i < latent_.size(); ++i) {
      const float blend = 0.9f * momentum_[i] + 0.1f * gradient[i];
      latent_[i] -= 2e-3f * rate * static_cast<float>((blend > 0) - (blend < 0));
      momentum_[i] = 0.98f * momentum_[i] + 0.02f * gradient[i];
    }
  }

 private:
  int64_t group_;
  Floats latent_, momentum_;
  PackedMatrix packed_;
};

}  // namespace

extern "C" int64_t ternary_train(const TernaryTrainArgs* args) {
  return train_by<Method>(*args);
}
