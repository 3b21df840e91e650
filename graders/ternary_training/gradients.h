#pragma once

#include <cstdint>
#include <vector>

namespace gauntlet::GAUNTLET_CHALLENGE {

/// One linear layer: the latent weights, what goes in and what comes back.
struct LinearProblem {
  std::int64_t rows = 1;
  std::int64_t columns = 4;
  std::int64_t group = 4;
  std::int64_t count = 1;
  std::vector<float> weight;           // [rows][columns]
  std::vector<float> x;                // [count][columns]
  std::vector<float> output_gradient;  // [count][rows]
};

/// Sums of float64 products, and the sum of the sizes of their terms: what float32 may be off by is
/// a multiple of that.
struct Sums {
  std::vector<double> value;
  std::vector<double> size;
  std::int64_t terms = 1;  // of each sum

  /// A float32 sum of n products, in any order and split in any way, is within n + 2 roundings of
  /// the size (Higham 2002, section 4.2); weights take one more when a scale is multiplied in.
  std::vector<double> allowed() const;
};

struct LinearAnswer {
  Sums y, input_gradient, weight_gradient;
};

LinearAnswer linear_answer(const LinearProblem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
