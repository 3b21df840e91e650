// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a matrix or the gains lie in a flat array of all parameters, or of their gradients.
#include "shape.h"
#include "vectors.h"

namespace ternary {

struct Layout {
  explicit Layout(const TernaryModel& m) : shapes(matrix_shapes(m)) {
    std::int64_t next = 0;
    for (const MatrixShape& shape : shapes) {
      starts.push_back(next);
      next += shape.rows * padded(shape.columns);
    }
    gains = next;
    total = next + padded(gains_of(m));
  }

  /// A matrix; the padding of its rows is 0.
  Rows rows(float* parameters, std::int64_t matrix) const {
    const auto i = static_cast<std::size_t>(matrix);
    return {parameters + starts[i], padded(shapes[i].columns)};
  }

  std::vector<MatrixShape> shapes;
  std::vector<std::int64_t> starts;
  std::int64_t gains;
  std::int64_t total;  // a multiple of kLanes
};

}  // namespace ternary
