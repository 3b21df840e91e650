// SPDX-License-Identifier: Apache-2.0
#pragma once

// Vectors of floats, memory for them, and functions of a vector.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace ternary {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
#elif defined(__AVX__)
inline constexpr int kLanes = 8;
#else
inline constexpr int kLanes = 4;
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
  return value - Vec{};  // not +, which would have to turn -0 into 0
}

inline float sum_of(Vec value) {
  float lane[kLanes];
  store(lane, value);
  for (int count = kLanes / 2; count > 0; count /= 2)
    for (int i = 0; i < count; ++i) lane[i] += lane[i + count];
  return lane[0];
}

inline float largest_of(Vec value) {
  float largest = value[0];
  for (int i = 1; i < kLanes; ++i) largest = std::max(largest, value[i]);
  return largest;
}

/// e^x to about one unit in the last place; 0 below the normal range, so also for -infinity.
inline Vec exp_of(Vec x) {
  const Vec shifter = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vec high = x > 88.0f ? all(88.0f) : x;
  const Vec shifted = high * 1.44269504088896341f + shifter;
  const Vec n = shifted - shifter;
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

/// 1 / sqrt(x) to a few units in the last place, for normal x > 0. Newton's method: there is no
/// root of a vector that all compilers know.
inline Vec inverse_root_of(Vec x) {
  Vec y = reinterpret_cast<Vec>(0x5f3759df - (reinterpret_cast<IntVec>(x) >> 1));
  for (int k = 0; k < 3; ++k) y = y * (1.5f - 0.5f * x * y * y);
  return y;
}

inline Vec sigmoid_of(Vec x) {
  return 1.0f / (1.0f + exp_of(-x));
}

inline std::int64_t padded(std::int64_t count) {
  return (count + kLanes - 1) / kLanes * kLanes;
}

/// Distance of the rows of an array of activations. An odd number of vectors, so that a column's
/// elements spread over all sets of a cache.
inline std::int64_t pitch_of(std::int64_t columns) {
  return (padded(columns) / kLanes | 1) * kLanes;
}

struct AlignedDelete {
  void operator()(float* data) const { ::operator delete[](data, std::align_val_t{64}); }
};

/// Floats at a multiple of 64 bytes, zeros at first: the padding of rows takes part in products.
class Floats {
 public:
  Floats() = default;
  explicit Floats(std::int64_t count) : Floats(count, count) {}
  /// Only the last ones zeros.
  Floats(std::int64_t count, std::int64_t zeros)
      : data_(static_cast<float*>(::operator new[](static_cast<std::size_t>(count) * sizeof(float),
                                                   std::align_val_t{64}))),
        size_(count) {
    std::fill_n(data_.get() + count - zeros, zeros, 0.0f);
  }
  void clear() { std::fill_n(data_.get(), size_, 0.0f); }
  std::int64_t size() const { return size_; }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  float& operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }
  float operator[](std::int64_t i) const { return data_[static_cast<std::size_t>(i)]; }

 private:
  std::unique_ptr<float[], AlignedDelete> data_;
  std::int64_t size_ = 0;
};

/// Rows at equal distances.
struct Rows {
  float* data;
  std::int64_t pitch;
  float* operator[](std::int64_t row) const { return data + row * pitch; }
  Rows from(std::int64_t row) const { return {data + row * pitch, pitch}; }
};

/// Rows of zeros.
class Table {
 public:
  Table() = default;
  Table(std::int64_t rows, std::int64_t columns)
      : pitch_(pitch_of(columns)), data_(rows * pitch_) {}
  void clear() { data_.clear(); }
  Rows rows() { return {data_.data(), pitch_}; }
  float* operator[](std::int64_t row) { return data_.data() + row * pitch_; }

 private:
  std::int64_t pitch_ = 0;
  Floats data_;
};

}  // namespace ternary
