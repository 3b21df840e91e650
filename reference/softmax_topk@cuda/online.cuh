// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fused {

/// sum of exp(scale * z - max) over the entries seen so far, where max is the largest scale * z of
/// them. Four exponentials are added up as floats, and those sums as doubles: the additions cost
/// nothing beside the loads, and no digits are lost however long the row is.
class Online {
 public:
  __device__ explicit Online(float scale) : scale_(scale) {}

  __device__ float max() const { return max_; }
  __device__ double sum() const { return sum_; }
  __device__ bool is_empty() const { return max_ == -INFINITY; }

  __device__ void add(const float (&z)[4]) {
    move_to(scale_ * fmaxf(fmaxf(z[0], z[1]), fmaxf(z[2], z[3])));
    sum_ += static_cast<double>((weight(z[0]) + weight(z[1])) + (weight(z[2]) + weight(z[3])));
  }

  __device__ void add_part(float max, double sum) {
    move_to(max);
    if (max != -INFINITY) sum_ += sum * expf(max - max_);
  }

  /// What all threads of the team saw; all of them get it.
  template <class Team>
  __device__ void join() {
    const float mine = max_;
    max_ = Team::joined(max_, [](float a, float b) { return fmaxf(a, b); });
    const double share = mine == -INFINITY ? 0.0 : sum_ * expf(mine - max_);
    sum_ = Team::joined(share, [](double a, double b) { return a + b; });
  }

  __device__ float probability_of(float z) const {
    return is_empty() ? 0.0f : static_cast<float>(weight(z) / sum_);
  }
  __device__ float log_sum_exp() const {
    return is_empty() ? max_ : static_cast<float>(max_ + log(sum_));
  }

 private:
  /// The difference of the products is rounded once, where it is taken.
  __device__ float weight(float z) const {
    return expf(fmaf(scale_, z, is_empty() ? 0.0f : -max_));
  }
  __device__ void move_to(float max) {
    if (!(max > max_)) return;
    sum_ *= expf(max_ - max);
    max_ = max;
  }

  float scale_;
  float max_ = -INFINITY;
  double sum_ = 0;
};

}  // namespace fused
