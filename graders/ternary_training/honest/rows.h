// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plain loops over rows of floats.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "contract.h"

namespace common {

using Floats = std::vector<float>;

/// Eight floats at once, wherever they lie: what compilers make of a loop only when they optimise
/// more than mutants are.
using Lanes [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = float;
constexpr int64_t kLanes = 8;

inline const Lanes& lanes(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}
inline Lanes& lanes(float* to) {
  return *reinterpret_cast<Lanes*>(to);
}

inline float dot(const float* a, const float* b, int64_t count) {
  Lanes parts{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) parts += lanes(a + i) * lanes(b + i);
  float sum = 0;
  for (int64_t k = 0; k < kLanes; ++k) sum += parts[k];
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

inline void add_scaled(const float* from, float factor, int64_t count, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) lanes(to + i) += factor * lanes(from + i);
  for (; i < count; ++i) to[i] += factor * from[i];
}

/// Adds the first `terms` rows of `from`, `stride` apart, each times its factor; factors are `step`
/// apart. Four rows a turn, so that `to` is loaded and stored once for them.
inline void add_rows(const float* from, int64_t stride, const float* factor, int64_t step,
                     int64_t terms, int64_t count, float* to) {
  int64_t t = 0;
  for (; t + 4 <= terms; t += 4) {
    const float f[4] = {factor[t * step], factor[(t + 1) * step], factor[(t + 2) * step],
                        factor[(t + 3) * step]};
    const float* row = from + t * stride;
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      lanes(to + i) += f[0] * lanes(row + i) + f[1] * lanes(row + stride + i) +
                       f[2] * lanes(row + 2 * stride + i) + f[3] * lanes(row + 3 * stride + i);
    for (; i < count; ++i)
      to[i] += f[0] * row[i] + f[1] * row[stride + i] + f[2] * row[2 * stride + i] +
               f[3] * row[3 * stride + i];
  }
  for (; t < terms; ++t) add_scaled(from + t * stride, factor[t * step], count, to);
}

inline Floats transposed(const float* from, int64_t rows, int64_t columns) {
  Floats to(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      to[static_cast<size_t>(c * rows + r)] = from[r * columns + c];
  return to;
}

inline void add(const Floats& from, Floats& to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

/// 1 / root mean square of a row.
inline float inverse_of(const float* x, int64_t width) {
  return 1 / std::sqrt(dot(x, x, width) / static_cast<float>(width) + TERNARY_NORM_EPSILON);
}

inline void normalise(const float* x, const float* gain, int64_t count, int64_t width, float* y) {
  for (int64_t i = 0; i < count; ++i, x += width, y += width) {
    const float inverse = inverse_of(x, width);
    for (int64_t c = 0; c < width; ++c) y[c] = x[c] * inverse * gain[c];
  }
}

/// Adds to dx and d_gain.
inline void normalise_back(const float* x, const float* gain, const float* dy, int64_t count,
                           int64_t width, float* dx, float* d_gain) {
  for (int64_t i = 0; i < count; ++i, x += width, dy += width, dx += width) {
    const float inverse = inverse_of(x, width);
    float along = 0;
    for (int64_t c = 0; c < width; ++c) along += dy[c] * gain[c] * x[c];
    along *= inverse * inverse / static_cast<float>(width);
    for (int64_t c = 0; c < width; ++c) {
      dx[c] += inverse * (dy[c] * gain[c] - x[c] * along);
      d_gain[c] += dy[c] * x[c] * inverse;
    }
  }
}

/// Softmax of a row in its place; returns -log of what `target` got.
inline double soften(float* row, int64_t count, int64_t target) {
  float top = row[0];
  for (int64_t i = 1; i < count; ++i) top = std::max(top, row[i]);
  const float own = row[target] - top;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += row[i] = std::exp(row[i] - top);
  for (int64_t i = 0; i < count; ++i) row[i] = static_cast<float>(row[i] / sum);
  return std::log(sum) - own;
}

}  // namespace common
