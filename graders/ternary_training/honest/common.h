// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the honest variants share: IEEE halves, random numbers, the sizes of a model and what the
// contract says about arguments.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "contract.h"

namespace common {

inline double value_of_half(uint16_t half) {
  if (half < 1024) return half * 0x1p-24;
  const auto bits = (static_cast<uint64_t>(half) << 42) + (uint64_t{1008} << 52);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

constexpr uint16_t kHalfInfinity = 0x7c00;

/// The nearest half of x >= 0, ties to even; infinity from 65520 on.
inline uint16_t nearest_half(double x) {
  if (!(x < 65520)) return kHalfInfinity;
  int exponent = 0;
  std::frexp(x, &exponent);  // x < 2^exponent
  exponent = x == 0 ? -13 : std::max(exponent, -13);
  const double steps = std::nearbyint(std::ldexp(x, 11 - exponent));
  return static_cast<uint16_t>((exponent + 13) * 1024 + static_cast<int>(steps));
}

struct Random {
  uint64_t state;
  uint64_t next() {
    state += 0x9e3779b97f4a7c15;
    uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t end) { return static_cast<int64_t>(next() % static_cast<uint64_t>(end)); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Of mean 0 and variance 1, from a sum of twelve.
  float bell() {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += uniform();
    return static_cast<float>(sum);
  }
};

struct Size {
  int64_t rows;
  int64_t columns;
};

/// All matrices in the order of the checkpoint.
inline std::vector<Size> sizes_of(const TernaryModel& m) {
  std::vector<Size> sizes{{m.vocab, m.width}};
  for (int64_t l = 0; l < m.layers; ++l) {
    for (int k = 0; k < 4; ++k) sizes.push_back({m.width, m.width});
    for (int k = 0; k < 2; ++k) sizes.push_back({m.hidden, m.width});
    sizes.push_back({m.width, m.hidden});
  }
  sizes.push_back({m.vocab, m.width});
  return sizes;
}

inline int64_t gains_of(const TernaryModel& m) {
  return (2 * m.layers + 1) * m.width;
}

inline bool bad_group(int64_t group, int64_t columns) {
  return group < 4 || group % 4 != 0 || columns < 1 || columns % group != 0;
}

inline bool bad_model(const TernaryModel& m) {
  if (m.vocab < 1 || m.vocab > 65536 || m.layers < 1 || m.heads < 1 || m.context < 1) return true;
  if (bad_group(m.group, m.width) || bad_group(m.group, m.hidden)) return true;
  for (const int64_t size : {m.width, m.layers, m.heads, m.hidden, m.context})
    if (size > INT32_MAX) return true;
  return m.width % (2 * m.heads) != 0;
}

/// As a floating-point number, because a header may claim anything.
inline double checkpoint_bytes(const TernaryModel& m) {
  const auto width = static_cast<double>(m.width);
  const double weights = 2.0 * static_cast<double>(m.vocab) * width +
                         static_cast<double>(m.layers) *
                             (4 * width * width + 3 * width * static_cast<double>(m.hidden));
  return 32 + weights / 4 + weights / static_cast<double>(m.group) * 2 +
         (2.0 * static_cast<double>(m.layers) + 1) * width * 4;
}

inline bool bad_tokens(const uint16_t* token, int64_t count, int64_t vocab) {
  for (int64_t i = 0; i < count; ++i)
    if (token[i] >= vocab) return true;
  return false;
}

template <class Args>
bool unsupported(const Args& args) {
  return args.abi_version != TERNARY_ABI_VERSION || args.device != TERNARY_HOST;
}

/// Whether training can start; TERNARY_NO_SPACE leaves the size needed behind.
inline int64_t judge(const TernaryTrainArgs& a) {
  if (unsupported(a)) return TERNARY_UNSUPPORTED;
  if (a.num_threads < 1 || bad_model(a.model)) return TERNARY_BAD_ARGUMENT;
  if (a.num_tokens < a.model.context + 1 || a.num_documents < 1) return TERNARY_BAD_ARGUMENT;
  if (a.max_tokens < 0 && !(a.max_seconds >= 0)) return TERNARY_BAD_ARGUMENT;
  for (int64_t d = 0; d < a.num_documents; ++d)
    if (a.document_start[d] > a.document_start[d + 1]) return TERNARY_BAD_ARGUMENT;
  if (a.document_start[0] != 0 || a.document_start[a.num_documents] != a.num_tokens)
    return TERNARY_BAD_ARGUMENT;
  if (bad_tokens(a.token, a.num_tokens, a.model.vocab)) return TERNARY_BAD_ARGUMENT;
  const double bytes = checkpoint_bytes(a.model);
  if (bytes <= static_cast<double>(a.checkpoint_capacity)) return TERNARY_OK;
  *a.checkpoint_bytes = bytes < 9e18 ? static_cast<int64_t>(bytes) : INT64_MAX;
  return TERNARY_NO_SPACE;
}

}  // namespace common
