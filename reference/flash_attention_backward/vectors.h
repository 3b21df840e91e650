// SPDX-License-Identifier: Apache-2.0
#pragma once

// Vectors of floats, the matrix product of a tile in registers, and functions of a vector.
#include <algorithm>
#include <cstdint>

namespace attention {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
inline constexpr int kTileRows =
    6;  // kTileRows * kTileVectors accumulators, and room for the operands
inline constexpr int kTileVectors = 4;
#elif defined(__AVX__)
inline constexpr int kLanes = 8;
inline constexpr int kTileRows = 6;
inline constexpr int kTileVectors = 2;
#else
inline constexpr int kLanes = 4;
inline constexpr int kTileRows = 6;
inline constexpr int kTileVectors = 2;
#endif

typedef float Vec __attribute__((vector_size(kLanes * sizeof(float))));
typedef float LooseVec __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));
typedef std::int32_t IntVec __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

inline Vec load(const float* from) {
  return *reinterpret_cast<const LooseVec*>(from);
}
inline void store(float* to, Vec value) {
  *reinterpret_cast<LooseVec*>(to) = value;
}
inline Vec all(float value) {
  return Vec{} + value;
}

inline std::int64_t padded(std::int64_t count) {
  return (count + kLanes - 1) / kLanes * kLanes;
}

/// c[m][:] (+)= sum_t a[m * a_row + t * a_step] * b[t * b_row + :] for M rows and V vectors.
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
TileProduct tile_product_for(int rows, int vectors) {
  switch (rows) {
    case 1:
      return kByVectors<1, kAdd>[vectors - 1];
    case 2:
      return kByVectors<2, kAdd>[vectors - 1];
    case 3:
      return kByVectors<3, kAdd>[vectors - 1];
    case 4:
      return kByVectors<4, kAdd>[vectors - 1];
    case 5:
      return kByVectors<5, kAdd>[vectors - 1];
    default:
      return kByVectors<6, kAdd>[vectors - 1];
  }
}

/// A matrix operand that is read element by element: row m, step t of the sum.
struct Left {
  const float* data;
  std::int64_t row;
  std::int64_t step;
};

/// c[rows][columns] (+)= left * right; columns is a multiple of kLanes and all rows are padded.
template <bool kAdd>
void product(const Left& left, const float* right, std::int64_t right_row, float* c,
             std::int64_t c_row, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  for (std::int64_t j = 0; j < columns; j += kTileVectors * kLanes) {
    const int vectors =
        static_cast<int>(std::min<std::int64_t>(kTileVectors, (columns - j) / kLanes));
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const int count = static_cast<int>(std::min<std::int64_t>(kTileRows, rows - i));
      tile_product_for<kAdd>(count, vectors)(left.data + i * left.row, left.row, left.step,
                                             right + j, right_row, c + i * c_row + j, c_row, depth);
    }
  }
}

/// e^x to about one unit in the last place; 0 below the normal range, so also for -infinity.
inline Vec exp_of(Vec x) {
  const Vec kShifter = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vec high = x > 88.0f ? all(88.0f) : x;
  const Vec shifted = high * 1.44269504088896341f + kShifter;
  const Vec n = shifted - kShifter;
  const Vec r = (high - n * 0.693359375f) + n * 2.12194440e-4f;
  Vec p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const IntVec scaled = reinterpret_cast<IntVec>(p) + (reinterpret_cast<IntVec>(shifted) << 23);
  return x < -87.0f ? Vec{} : reinterpret_cast<Vec>(scaled);
}

inline Vec tanh_of(Vec x) {
  const Vec square = x * x;
  Vec p = square * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * square - 5.37397155531e-2f;
  p = p * square + 1.33314422036e-1f;
  p = p * square - 3.33332819422e-1f;
  const Vec near = p * square * x + x;
  const Vec size = x < 0.0f ? -x : x;
  const Vec far = 1.0f - 2.0f / (exp_of(2.0f * size) + 1.0f);
  return size < 0.625f ? near : (x < 0.0f ? -far : far);
}

}  // namespace attention
