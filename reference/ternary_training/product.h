// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one matrix product: a tile of the result stays in registers while the sum runs.
#include "vectors.h"

namespace ternary {

#if defined(__AVX512F__)
inline constexpr int kTileVectors = 4;
#else
inline constexpr int kTileVectors = 2;
#endif
inline constexpr int kTileRows = 6;  // kTileRows * kTileVectors sums, and room for the operands
inline constexpr std::int64_t kPanel = kTileVectors * kLanes;

/// A left operand, read element by element: row m, step t of the sum.
struct Left {
  const float* data;
  std::int64_t row;
  std::int64_t step;
};

inline Left left_of(const Rows& rows) {
  return {rows.data, rows.pitch, 1};
}
inline Left transposed(const Rows& rows) {
  return {rows.data, 1, rows.pitch};
}

/// A right operand, read in panels of kPanel columns: step t of the sum is a row.
struct Right {
  const float* data;
  std::int64_t row;
  std::int64_t panel;
};

inline Right right_of(const Rows& rows) {
  return {rows.data, rows.pitch, kPanel};
}

template <int M, int V, bool kAdd>
void tile_product(const float* a, std::int64_t a_row, std::int64_t a_step, const float* b,
                  std::int64_t b_row, float* c, std::int64_t c_row, std::int64_t depth) {
  Vec sum[M][V];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[m][v] = kAdd ? load(c + m * c_row + v * kLanes) : Vec{};
  for (std::int64_t t = 0; t < depth; ++t) {
    Vec right[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) right[v] = load(b + t * b_row + v * kLanes);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      const Vec left = all(a[m * a_row + t * a_step]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[m][v] += left * right[v];
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) store(c + m * c_row + v * kLanes, sum[m][v]);
}

using TileProduct = void (*)(const float*, std::int64_t, std::int64_t, const float*, std::int64_t,
                             float*, std::int64_t, std::int64_t);

template <int M, bool kAdd>
inline constexpr TileProduct kByVectors[4] = {tile_product<M, 1, kAdd>,
                                              tile_product<M, 2 <= kTileVectors ? 2 : 1, kAdd>,
                                              tile_product<M, 3 <= kTileVectors ? 3 : 1, kAdd>,
                                              tile_product<M, 4 <= kTileVectors ? 4 : 1, kAdd>};

template <bool kAdd>
inline constexpr const TileProduct* kByRows[kTileRows] = {kByVectors<1, kAdd>, kByVectors<2, kAdd>,
                                                          kByVectors<3, kAdd>, kByVectors<4, kAdd>,
                                                          kByVectors<5, kAdd>, kByVectors<6, kAdd>};

/// c[rows][columns] (+)= left * right. Rows of `right` and c are written and read up to a multiple
/// of kLanes.
template <bool kAdd>
void product(const Left& left, const Right& right, const Rows& c, std::int64_t rows,
             std::int64_t columns, std::int64_t depth) {
  for (std::int64_t j = 0; j < columns; j += kPanel) {
    const std::int64_t vectors = std::min<std::int64_t>(kTileVectors, padded(columns - j) / kLanes);
    const float* panel = right.data + j / kPanel * right.panel;
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const std::int64_t count = std::min<std::int64_t>(kTileRows, rows - i);
      kByRows<kAdd>[count - 1][vectors - 1](left.data + i * left.row, left.row, left.step, panel,
                                            right.row, c[i] + j, c.pitch, depth);
    }
  }
}

}  // namespace ternary
