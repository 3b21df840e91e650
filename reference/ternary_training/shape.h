// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which matrices a model consists of, and the length of its checkpoint.
#include <cstdint>
#include <vector>

#include "contract.h"

namespace ternary {

struct MatrixShape {
  std::int64_t rows;
  std::int64_t columns;
};

inline constexpr std::int64_t kHeaderBytes = 4 + 7 * 4;

/// Whether the contract allows these sizes.
inline bool is_legal_group(std::int64_t group, std::int64_t columns) {
  return group >= 4 && group % 4 == 0 && columns >= 1 && columns % group == 0;
}

inline bool is_legal(const TernaryModel& m) {
  constexpr std::int64_t kLargest = INT32_MAX;
  for (const std::int64_t size :
       {m.vocab, m.width, m.layers, m.heads, m.hidden, m.context, m.group})
    if (size < 1 || size > kLargest) return false;
  return m.vocab <= 65536 && is_legal_group(m.group, m.width) &&
         is_legal_group(m.group, m.hidden) && m.width % m.heads == 0 && m.width / m.heads % 2 == 0;
}

inline std::int64_t gains_of(const TernaryModel& m) {
  return (2 * m.layers + 1) * m.width;
}

/// Length of the checkpoint of a legal model, at most INT64_MAX.
inline std::int64_t checkpoint_length(const TernaryModel& m) {
  using Wide = unsigned __int128;
  const auto wide = [](std::int64_t n) { return static_cast<Wide>(n); };
  const Wide layer =
      wide(4) * wide(m.width) * wide(m.width) + wide(3) * wide(m.width) * wide(m.hidden);
  const Wide weights = wide(m.layers) * layer + wide(2) * wide(m.vocab) * wide(m.width);
  const Wide bytes = wide(kHeaderBytes) + weights / 4 + weights / wide(m.group) * 2 +
                     (wide(2) * wide(m.layers) + 1) * wide(m.width) * 4;
  return bytes > static_cast<Wide>(INT64_MAX) ? INT64_MAX : static_cast<std::int64_t>(bytes);
}

/// Index of a matrix in the order of the checkpoint.
enum MatrixOfLayer { kQuery, kKey, kValue, kOutput, kGate, kUp, kDown, kMatricesOfLayer };

inline std::int64_t embedding_index() {
  return 0;
}
inline std::int64_t layer_index(std::int64_t layer, MatrixOfLayer which) {
  return 1 + layer * kMatricesOfLayer + which;
}
inline std::int64_t head_index(const TernaryModel& m) {
  return 1 + m.layers * kMatricesOfLayer;
}

/// Whether its product is added to the residual stream.
inline bool is_added_to_stream(const TernaryModel& m, std::int64_t matrix) {
  const std::int64_t which = (matrix - 1) % kMatricesOfLayer;
  return matrix > 0 && matrix < head_index(m) && (which == kOutput || which == kDown);
}

inline std::vector<MatrixShape> matrix_shapes(const TernaryModel& m) {
  std::vector<MatrixShape> shapes{{m.vocab, m.width}};
  for (std::int64_t layer = 0; layer < m.layers; ++layer) {
    shapes.insert(shapes.end(), 4, {m.width, m.width});
    shapes.insert(shapes.end(), 2, {m.hidden, m.width});
    shapes.push_back({m.width, m.hidden});
  }
  shapes.push_back({m.vocab, m.width});
  return shapes;
}

}  // namespace ternary
