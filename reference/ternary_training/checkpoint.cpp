// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.h"

#include <cmath>
#include <cstring>

#include "latent.h"
#include "quantizer.h"

namespace ternary {
namespace {

constexpr std::int64_t kSizes = 7;
constexpr char kMagic[4] = {'T', 'R', 'N', '1'};

// Sizes of the parts of a matrix.
std::int64_t code_bytes(const MatrixShape& shape) {
  return shape.rows * shape.columns / 4;
}
std::int64_t scale_bytes(const MatrixShape& shape, std::int64_t group) {
  return shape.rows * (shape.columns / group) * 2;
}

std::uint16_t half_at(const std::uint8_t* bytes) {
  return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
}

float float_at(const std::uint8_t* bytes) {
  float value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

bool has_code_3(const std::uint8_t* codes, std::int64_t count) {
  unsigned found = 0;
  for (std::int64_t i = 0; i < count; ++i) found |= codes[i] & (codes[i] >> 1) & 0x55u;
  return found != 0;
}

bool has_bad_scale(const std::uint8_t* scales, std::int64_t bytes) {
  bool found = false;
  for (std::int64_t i = 0; i < bytes; i += 2) found |= half_at(scales + i) >= kHalfInfinity;
  return found;
}

bool has_bad_gain(const std::uint8_t* gains, std::int64_t count) {
  bool found = false;
  for (std::int64_t i = 0; i < count; ++i) found |= !(std::fabs(float_at(gains + 4 * i)) <= 64);
  return found;
}

/// The four codes of every byte as -1, 0, 1.
struct CodeTable {
  CodeTable() {
    for (int byte = 0; byte < 256; ++byte)
      for (int k = 0; k < 4; ++k) value[byte][k] = static_cast<float>((byte >> 2 * k & 3) - 1);
  }
  float value[256][4];
};

void read_row(const CodeTable& table, const std::uint8_t* codes, const std::uint8_t* scales,
              std::int64_t columns, std::int64_t group, float* to) {
  for (std::int64_t c = 0; c < columns; c += group, scales += 2) {
    const float scale = float_of_half(half_at(scales));
    for (std::int64_t i = c; i < c + group; i += 4)
      for (int k = 0; k < 4; ++k) to[i + k] = scale * table.value[codes[i / 4]][k];
  }
}

}  // namespace

std::optional<TernaryModel> sizes_of(const std::uint8_t* bytes, std::int64_t length) {
  if (length < kHeaderBytes || std::memcmp(bytes, kMagic, sizeof(kMagic)) != 0) return {};
  std::uint32_t size[kSizes];
  std::memcpy(size, bytes + sizeof(kMagic), sizeof(size));
  const TernaryModel m{size[0], size[1], size[2], size[3], size[4], size[5], size[6]};
  if (!is_legal(m) || checkpoint_length(m) != length) return {};
  const std::uint8_t* at = bytes + kHeaderBytes;
  for (const MatrixShape& shape : matrix_shapes(m)) {
    if (has_code_3(at, code_bytes(shape))) return {};
    at += code_bytes(shape);
    if (has_bad_scale(at, scale_bytes(shape, m.group))) return {};
    at += scale_bytes(shape, m.group);
  }
  if (has_bad_gain(at, gains_of(m))) return {};
  return m;
}

void read_weights(const std::uint8_t* bytes, Model& model, int part, int parts) {
  static const CodeTable table;
  const std::int64_t group = model.sizes.group;
  const std::uint8_t* at = bytes + kHeaderBytes;
  for (std::size_t index = 0; index < model.shapes.size(); ++index) {
    const MatrixShape shape = model.shapes[index];
    const std::uint8_t* scales = at + code_bytes(shape);
    Table rows(kLanes, shape.columns);
    const std::int64_t blocks = (shape.rows + kLanes - 1) / kLanes;
    for (std::int64_t block = blocks * part / parts; block < blocks * (part + 1) / parts; ++block) {
      const std::int64_t first = block * kLanes;
      const std::int64_t count = std::min<std::int64_t>(kLanes, shape.rows - first);
      for (std::int64_t r = 0; r < count; ++r)
        read_row(table, at + (first + r) * shape.columns / 4,
                 scales + (first + r) * (shape.columns / group) * 2, shape.columns, group, rows[r]);
      model.set_rows(static_cast<std::int64_t>(index), first, count, rows.rows());
    }
    at = scales + scale_bytes(shape, group);
  }
  if (part == 0)
    std::memcpy(model.gains.data(), at, static_cast<std::size_t>(gains_of(model.sizes)) * 4);
}

void write_checkpoint(const TernaryModel& m, const Layout& layout, float* parameters,
                      std::uint8_t* bytes) {
  std::memcpy(bytes, kMagic, sizeof(kMagic));
  std::uint8_t* at = bytes + sizeof(kMagic);
  for (const std::int64_t size :
       {m.vocab, m.width, m.layers, m.heads, m.hidden, m.context, m.group}) {
    const auto word = static_cast<std::uint32_t>(size);
    std::memcpy(at, &word, sizeof(word));
    at += sizeof(word);
  }
  std::int64_t index = 0;
  for (const MatrixShape& shape : matrix_shapes(m)) {
    const Rows rows = layout.rows(parameters, index++);
    std::uint8_t* scales = at + code_bytes(shape);
    for (std::int64_t r = 0; r < shape.rows; ++r)
      for (std::int64_t c = 0; c < shape.columns; c += m.group, scales += 2) {
        const std::uint16_t scale = training_scale(rows[r] + c, m.group);
        write_codes(rows[r] + c, m.group, threshold_of(scale), at + (r * shape.columns + c) / 4);
        std::memcpy(scales, &scale, sizeof(scale));
      }
    at = scales;
  }
  std::memcpy(at, parameters + layout.gains, static_cast<std::size_t>(gains_of(m)) * 4);
}

}  // namespace ternary
