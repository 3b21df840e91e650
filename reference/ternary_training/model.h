// SPDX-License-Identifier: Apache-2.0
#pragma once

// A model with its weights as floats.
#include "matrix.h"

namespace ternary {

class Model {
 public:
  Model(const TernaryModel& model_sizes, Matrix::Use use)
      : sizes(model_sizes),
        shapes(matrix_shapes(model_sizes)),
        embedding(model_sizes.vocab * model_sizes.width),
        gains(gains_of(model_sizes)) {
    for (std::size_t i = 1; i < shapes.size(); ++i) products_.emplace_back(shapes[i], use);
  }

  /// Row of the embedding.
  const float* embedded(std::int64_t token) const { return embedding.data() + token * sizes.width; }
  const Matrix& of_layer(std::int64_t layer, MatrixOfLayer which) const {
    return products_[static_cast<std::size_t>(layer_index(layer, which) - 1)];
  }
  const Matrix& head() const { return products_.back(); }
  /// Gains number 2l and 2l + 1 are those of layer l, the last is that before the head.
  const float* gain(std::int64_t number) const { return gains.data() + number * sizes.width; }

  /// Takes over rows of a matrix: `count` from `first` on, a multiple of kLanes; count <= kLanes.
  void set_rows(std::int64_t matrix, std::int64_t first, std::int64_t count, const Rows& values) {
    if (matrix > 0)
      return products_[static_cast<std::size_t>(matrix - 1)].set_rows(first, count, values);
    for (std::int64_t r = 0; r < count; ++r)
      std::copy_n(values[r], sizes.width, embedding.data() + (first + r) * sizes.width);
  }

  const TernaryModel sizes;
  const std::vector<MatrixShape> shapes;
  Floats embedding;  // [vocab][width]
  Floats gains;

 private:
  std::vector<Matrix> products_;  // all but the embedding
};

}  // namespace ternary
