// strategy: ternary weight networks: threshold 0.7 of the mean, scale the mean of what exceeds it;
// AdamW
// uses: ternary_train may choose codes and scales in another way than ternary_quantize
// SPDX-License-Identifier: Apache-2.0
#include "student.h"

namespace {

using namespace common;

class Method {
 public:
  Method(Size size, int64_t group, Random& random)
      : group_(group), latent_(static_cast<size_t>(size.rows * size.columns)) {
    scatter(random, size, latent_.value);
    packed_.trits.resize(latent_.value.size());
    packed_.scales.resize(latent_.value.size() / static_cast<size_t>(group));
  }

  const PackedMatrix& packed() const { return packed_; }

  void unfold(Floats& weights, double) {
    for (size_t g = 0; g < packed_.scales.size(); ++g) quantise_group(g);
    common::unfold(packed_, group_, weights);
  }

  void update(const Floats& gradient, float rate, int64_t step) {
    latent_.update(gradient, 4e-3f * rate, step);
  }

 private:
  void quantise_group(size_t g) {
    const auto count = static_cast<size_t>(group_);
    const float* w = latent_.value.data() + g * count;
    double mean = 0;
    for (size_t i = 0; i < count; ++i) mean += std::fabs(w[i]) / static_cast<double>(count);
    double kept_sum = 0;
    int kept = 0;
    for (size_t i = 0; i < count; ++i) {
      const bool keeps = std::fabs(w[i]) > 0.7 * mean;
      packed_.trits[g * count + i] = static_cast<int8_t>(keeps ? (w[i] > 0 ? 1 : -1) : 0);
      kept += keeps;
      if (keeps) kept_sum += std::fabs(w[i]);
    }
    packed_.scales[g] = nearest_half(kept == 0 ? 0 : std::min(kept_sum / kept, 65504.0));
  }

  int64_t group_;
  Adam latent_;
  PackedMatrix packed_;
};

}  // namespace

extern "C" int64_t ternary_train(const TernaryTrainArgs* args) {
  return train_by<Method>(*args);
}
