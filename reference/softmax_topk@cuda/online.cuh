// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fused {

/// sum of exp(scale * (z - origin)) over the entries seen so far, where origin is the largest z of
/// them. Four exponentials are added up as floats, and those sums as doubles: the additions cost
/// nothing beside the loads, and no digits are lost however long the row is.
class Online {
 public:
  __device__ explicit Online(float scale) : scale_(scale) {}

  __device__ float origin() const { return origin_; }
  __device__ double sum() const { return sum_; }

  __device__ void add(const float (&z)[4]) {
    move_to(fmaxf(fmaxf(z[0], z[1]), fmaxf(z[2], z[3])));
    sum_ += static_cast<double>((weight(z[0]) + weight(z[1])) + (weight(z[2]) + weight(z[3])));
  }

  __device__ void add_part(float origin, double sum) {
    move_to(origin);
    sum_ += sum * weight(origin);
  }

  /// What all threads of the team saw; all of them get it.
  template <class Team>
  __device__ void join() {
    const float mine = origin_;
    origin_ = Team::joined(origin_, [](float a, float b) { return fmaxf(a, b); });
    sum_ = Team::joined(sum_ * weight(mine), [](double a, double b) { return a + b; });
  }

  __device__ float probability_of(float z) const {
    return is_empty() ? 0.0f : static_cast<float>(weight(z) / sum_);
  }
  __device__ float max() const { return scale_ * origin_; }
  __device__ float log_sum_exp() const {
    return is_empty() ? origin_ : static_cast<float>(double{scale_} * origin_ + log(sum_));
  }

 private:
  __device__ bool is_empty() const { return origin_ == -INFINITY; }

  /// The difference comes first, since the products may differ by less than their rounding, and in
  /// halves, since logits may be further apart than the largest float where the scale is small.
  __device__ float weight(float z) const {
    const float half = 0.5f * z - (is_empty() ? 0.0f : 0.5f * origin_);
    return expf(scale_ * half * 2);
  }
  __device__ void move_to(float z) {
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
