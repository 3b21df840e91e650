// strategy: dense weights for the first half of the way, then absmean with straight-through
// gradients
// uses: ternary_train may train in any way, here with dense weights for the first half; the
// checkpoint is not that of another recipe
// SPDX-License-Identifier: Apache-2.0
#include "student.h"

namespace {

using namespace common;

class Method {
 public:
  Method(Size size, int64_t group, Random& random)
      : group_(group), latent_(static_cast<size_t>(size.rows * size.columns)) {
    scatter(random, size, latent_.value);
  }

  const PackedMatrix& packed() const { return packed_; }

  void unfold(Floats& weights, double way) {
    if (way < 0.5) {
      weights = latent_.value;
      return;
    }
    quantise(latent_.value.data(), static_cast<int64_t>(weights.size()), group_, packed_);
    common::unfold(packed_, group_, weights);
  }

  void update(const Floats& gradient, float rate, int64_t step) {
    latent_.update(gradient, 3e-3f * rate, step);
  }

 private:
  int64_t group_;
  Adam latent_;
  PackedMatrix packed_;
};

}  // namespace

extern "C" int64_t ternary_train(const TernaryTrainArgs* args) {
  return train_by<Method>(*args);
}
