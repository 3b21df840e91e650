// SPDX-License-Identifier: Apache-2.0
#pragma once

// The checkpoint as bytes.
#include <cstring>
#include <optional>

#include "common.h"

namespace common {

struct PackedMatrix {
  std::vector<int8_t> trits;
  std::vector<uint16_t> scales;
};

inline void pack_codes(const std::vector<int8_t>& trits, uint8_t* bytes) {
  for (size_t i = 0; i < trits.size(); i += 4) {
    int byte = 0;
    for (size_t k = 0; k < 4; ++k) byte |= (trits[i + k] + 1) << (2 * k);
    bytes[i / 4] = static_cast<uint8_t>(byte);
  }
}

/// Writes exactly checkpoint_bytes(m).
inline void pack(const TernaryModel& m, const std::vector<const PackedMatrix*>& matrices,
                 const std::vector<float>& gains, uint8_t* bytes) {
  std::memcpy(bytes, "TRN1", 4);
  bytes += 4;
  for (const int64_t size : {m.vocab, m.width, m.layers, m.heads, m.hidden, m.context, m.group}) {
    const auto word = static_cast<uint32_t>(size);
    std::memcpy(bytes, &word, 4);
    bytes += 4;
  }
  for (const PackedMatrix* matrix : matrices) {
    pack_codes(matrix->trits, bytes);
    bytes += matrix->trits.size() / 4;
    std::memcpy(bytes, matrix->scales.data(), matrix->scales.size() * 2);
    bytes += matrix->scales.size() * 2;
  }
  std::memcpy(bytes, gains.data(), gains.size() * 4);
}

struct Unpacked {
  TernaryModel model;
  std::vector<PackedMatrix> matrices;
  std::vector<float> gains;
};

/// Nothing where the checkpoint has an error.
inline std::optional<Unpacked> unpack(const uint8_t* bytes, int64_t length) {
  if (length < 32 || std::memcmp(bytes, "TRN1", 4) != 0) return {};
  uint32_t size[7];
  std::memcpy(size, bytes + 4, sizeof size);
  Unpacked result{{size[0], size[1], size[2], size[3], size[4], size[5], size[6]}, {}, {}};
  if (bad_model(result.model)) return {};
  if (checkpoint_bytes(result.model) != static_cast<double>(length)) return {};
  bytes += 32;
  for (const Size& s : sizes_of(result.model)) {
    PackedMatrix matrix;
    for (int64_t i = 0; i < s.rows * s.columns; ++i) {
      const int code = bytes[i / 4] >> (2 * (i % 4)) & 3;
      if (code == 3) return {};
      matrix.trits.push_back(static_cast<int8_t>(code - 1));
    }
    bytes += s.rows * s.columns / 4;
    matrix.scales.resize(static_cast<size_t>(s.rows * (s.columns / result.model.group)));
    std::memcpy(matrix.scales.data(), bytes, matrix.scales.size() * 2);
    for (const uint16_t scale : matrix.scales)
      if (scale >= kHalfInfinity) return {};
    bytes += matrix.scales.size() * 2;
    result.matrices.push_back(std::move(matrix));
  }
  result.gains.resize(static_cast<size_t>(gains_of(result.model)));
  std::memcpy(result.gains.data(), bytes, result.gains.size() * 4);
  for (const float gain : result.gains)
    if (!(std::fabs(gain) <= 64)) return {};
  return result;
}

}  // namespace common
