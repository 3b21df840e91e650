// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fused {

/// sum of exp(scale * (z - origin)) over the entries seen so far, where origin is the largest z of
/// them. A few exponentials are added up as floats, and those sums as doubles: the additions cost
/// nothing beside the loads, and no digits are lost however long the row is.
class Online {
 public:
  __device__ __forceinline__ explicit Online(float scale) : scale_(scale) {}

  __device__ __forceinline__ float origin() const { return origin_; }
  __device__ __forceinline__ double sum() const { return sum_; }

  template <int kCount>
  __device__ __forceinline__ void add(const float (&z)[kCount]) {
    float largest = z[0];
    for (int n = 1; n < kCount; ++n) largest = fmaxf(largest, z[n]);
    move_to(largest);
    float weights = 0;
    for (int n = 0; n < kCount; ++n) weights += weight(z[n]);
    sum_ += static_cast<double>(weights);
  }

  __device__ __forceinline__ void add_part(float origin, double sum) {
    move_to(origin);
    sum_ += sum * weight(origin);
  }

  /// What all threads of the team saw; all of them get it.
  template <class Team>
  __device__ __forceinline__ void join() {
    const float mine = origin_;
    origin_ = Team::joined(origin_, [](float a, float b) { return fmaxf(a, b); });
    sum_ = Team::joined(sum_ * weight(mine), [](double a, double b) { return a + b; });
  }

  __device__ __forceinline__ float probability_of(float z) const {
    return is_empty() ? 0.0f : static_cast<float>(weight(z) / sum_);
  }
  __device__ __forceinline__ float max() const { return scale_ * origin_; }
  __device__ __forceinline__ float log_sum_exp() const {
    return is_empty() ? origin_ : static_cast<float>(double{scale_} * origin_ + log(sum_));
  }

 private:
  __device__ __forceinline__ bool is_empty() const { return origin_ == -INFINITY; }

  /// The difference comes first, since the products may differ by less than their rounding, and in
  /// halves, since logits may be further apart than the largest float where the scale is small.
  __device__ __forceinline__ float weight(float z) const {
    const float half = 0.5f * z - (is_empty() ? 0.0f : 0.5f * origin_);
    return expf(scale_ * half * 2);
  }
  __device__ __forceinline__ void move_to(float z) {
    if (!(z > origin_)) return;
    const float before = origin_;
    origin_ = z;
    sum_ *= weight(before);
  }

  float scale_;
  float origin_ = -INFINITY;
  double sum_ = 0;
};

}  // namespace fused
