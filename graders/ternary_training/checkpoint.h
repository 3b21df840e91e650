// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "tensors.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A ternary matrix: codes t of -1, 0, +1 in row order, and the scales of the groups as halves.
struct TernaryMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int8_t> codes;
  std::vector<std::uint16_t> scales;

  std::int64_t groups_in_row() const { return std::ssize(scales) / rows; }
  std::int64_t group() const { return columns / groups_in_row(); }
  float weight(std::int64_t row, std::int64_t column) const;
};

struct Checkpoint {
  TernaryModel model{};
  std::vector<TernaryMatrix> matrices;  // as tensors_of(model) lists them
  std::vector<float> gains;

  std::span<const float> gain(std::int64_t index) const {
    const auto width = static_cast<std::size_t>(model.width);
    return std::span(gains).subspan(static_cast<std::size_t>(index) * width, width);
  }
};

/// A string of bytes that is no checkpoint; says which tensor, row and group or column is at fault.
struct BadCheckpoint : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads a checkpoint and believes nothing of it. Throws BadCheckpoint.
Checkpoint read_checkpoint(std::span<const std::uint8_t> bytes);

std::vector<std::uint8_t> bytes_of(const Checkpoint& checkpoint);

/// Four codes to a byte, the first in the lowest bits.
std::vector<std::uint8_t> packed(std::span<const std::int8_t> codes);

/// Where the parts of a tensor lie in the bytes, for tests and checks that spoil them.
struct Place {
  std::size_t codes;   // first byte
  std::size_t scales;  // first byte
};
Place place_of(const TernaryModel& model, std::size_t tensor);
std::size_t place_of_gains(const TernaryModel& model);

/// Overwrites bytes with a number.
template <class Number>
void put(std::vector<std::uint8_t>& bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
