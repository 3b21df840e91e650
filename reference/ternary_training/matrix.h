// SPDX-License-Identifier: Apache-2.0
#pragma once

// A ternary matrix as products want it: floats in panels, once for W x, once for transposed W x.
#include "product.h"
#include "shape.h"
#include "transpose.h"

namespace ternary {

class Matrix {
 public:
  enum Use { kForward, kForwardAndBackward };

  Matrix(MatrixShape shape, Use use)
      : shape_(shape), columns_panels_(panels(shape.rows, shape.columns)) {
    if (use == kForwardAndBackward) rows_panels_ = panels(shape.columns, shape.rows);
  }

  const MatrixShape& shape() const { return shape_; }

  /// Right operand [columns][rows].
  Right transposed() const { return {columns_panels_.data(), kPanel, shape_.columns * kPanel}; }
  /// Right operand [rows][columns].
  Right plain() const { return {rows_panels_.data(), kPanel, shape_.rows * kPanel}; }

  /// Takes over `count` rows from `first` on, a multiple of kLanes; count is at most kLanes.
  /// `values` has kLanes padded rows.
  void set_rows(std::int64_t first, std::int64_t count, const Rows& values) {
    float* to = columns_panels_.data() + first / kPanel * shape_.columns * kPanel + first % kPanel;
    for (std::int64_t c = 0; c < shape_.columns; c += kLanes) {
      Vec square[kLanes];
#pragma GCC unroll 16
      for (int r = 0; r < kLanes; ++r) square[r] = load(values[r] + c);
      transpose_square(square);
      const std::int64_t columns = std::min<std::int64_t>(kLanes, shape_.columns - c);
      for (std::int64_t k = 0; k < columns; ++k) store(to + (c + k) * kPanel, square[k]);
    }
    if (rows_panels_.size() == 0) return;
    for (std::int64_t r = 0; r < count; ++r)
      for (std::int64_t c = 0; c < shape_.columns; c += kPanel)
        std::copy_n(values[r] + c, std::min(kPanel, shape_.columns - c),
                    rows_panels_.data() + (c / kPanel * shape_.rows + first + r) * kPanel);
  }

 private:
  /// The last panel may have columns that do not exist.
  static Floats panels(std::int64_t columns, std::int64_t depth) {
    const std::int64_t panel = kPanel * depth;
    return Floats((columns + kPanel - 1) / kPanel * panel, columns % kPanel == 0 ? 0 : panel);
  }

  MatrixShape shape_;
  Floats columns_panels_;
  Floats rows_panels_;
};

}  // namespace ternary
