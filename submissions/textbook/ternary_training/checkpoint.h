#pragma once

// The packed file: header, matrices as 2-bit codes and half-precision scales, gains of the norms.
#include "model.h"

constexpr int64_t kHeader = 32;

inline bool valid_group(int64_t group, int64_t columns) {
  return group >= 4 && group % 4 == 0 && columns > 0 && columns % group == 0;
}

inline bool valid_model(const TernaryModel& m) {
  constexpr int64_t kMost = int64_t{1} << 31;
  if (m.vocab < 1 || m.vocab > 65536 || m.layers < 1 || m.heads < 1 || m.context < 1) return false;
  if (m.width >= kMost || m.hidden >= kMost || m.layers >= kMost || m.context >= kMost)
    return false;
  if (m.heads > m.width || m.width % m.heads != 0 || m.width / m.heads % 2 != 0) return false;
  return valid_group(m.group, m.width) && valid_group(m.group, m.hidden);
}

/// Length of the file. Double, since sizes in a header may be anything.
inline double file_size(const TernaryModel& m) {
  const double w = static_cast<double>(m.width), layers = static_cast<double>(m.layers);
  const double weights = layers * (4 * w * w + 3 * w * static_cast<double>(m.hidden)) +
                         2 * w * static_cast<double>(m.vocab);
  return kHeader + weights / 4 + 2 * weights / static_cast<double>(m.group) +
         4 * w * (2 * layers + 1);
}

inline void pack_codes(const std::vector<uint8_t>& codes, uint8_t* out) {
  for (size_t i = 0; i < codes.size(); i += 4)
    out[i / 4] =
        static_cast<uint8_t>(codes[i] | codes[i + 1] << 2 | codes[i + 2] << 4 | codes[i + 3] << 6);
}

inline void save(Transformer& model, uint8_t* out) {
  const TernaryModel& m = model.m;
  std::memcpy(out, "TRN1", 4);
  const int64_t sizes[] = {m.vocab, m.width, m.layers, m.heads, m.hidden, m.context, m.group};
  for (int i = 0; i < 7; ++i) {
    const auto size = static_cast<uint32_t>(sizes[i]);
    std::memcpy(out + 4 + 4 * i, &size, 4);
  }
  out += kHeader;
  for (const TernaryLinear* matrix : model.matrices()) {
    pack_codes(matrix->codes, out);
    out += matrix->codes.size() / 4;
    std::memcpy(out, matrix->scales.data(), 2 * matrix->scales.size());
    out += 2 * matrix->scales.size();
  }
  for (const RmsNorm* norm : model.norms()) {
    std::memcpy(out, norm->gain.data(), 4 * norm->gain.size());
    out += 4 * norm->gain.size();
  }
}

/// The sizes in the header; nothing when the file cannot be one of such a model.
inline std::optional<TernaryModel> load_sizes(const uint8_t* in, int64_t bytes) {
  if (bytes < kHeader || std::memcmp(in, "TRN1", 4) != 0) return std::nullopt;
  uint32_t s[7];
  std::memcpy(s, in + 4, sizeof s);
  const TernaryModel m{s[0], s[1], s[2], s[3], s[4], s[5], s[6]};
  if (!valid_model(m) || file_size(m) != static_cast<double>(bytes)) return std::nullopt;
  return m;
}

/// False when the file has an error.
inline bool load(const uint8_t* in, Transformer& model) {
  in += kHeader;
  for (TernaryLinear* matrix : model.matrices()) {
    for (size_t i = 0; i < matrix->codes.size(); ++i) {
      matrix->codes[i] = in[i / 4] >> (i % 4 * 2) & 3;
      if (matrix->codes[i] == 3) return false;
    }
    in += matrix->codes.size() / 4;
    std::memcpy(matrix->scales.data(), in, 2 * matrix->scales.size());
    in += 2 * matrix->scales.size();
    for (const uint16_t scale : matrix->scales)
      if (scale >= kInfiniteHalf) return false;  // with the sign bit, infinite or NaN
    matrix->dequantise();
  }
  for (RmsNorm* norm : model.norms()) {
    std::memcpy(norm->gain.data(), in, 4 * norm->gain.size());
    in += 4 * norm->gain.size();
    for (const float gain : norm->gain)
      if (!(std::abs(gain) <= 64)) return false;
  }
  return true;
}
