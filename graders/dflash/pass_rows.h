// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A rule of the contract that a callback request broke.
struct Violation {
  std::string text;
  std::vector<std::string> drawing;
};

/// The rows of one request in a forward pass, as the solution sent them.
struct PassRows {
  std::span<const std::int32_t> token;
  std::span<const std::int64_t> position;
  std::span<const std::uint64_t> mask;
  std::int64_t words = 0;

  std::size_t count() const { return token.size(); }
  bool sees(std::size_t row, std::size_t slot) const {
    return words_of(row)[slot / 64] >> (slot % 64) & 1;
  }
  std::span<const std::uint64_t> words_of(std::size_t row) const {
    const auto count = static_cast<std::size_t>(words);
    return mask.subspan(row * count, count);
  }
};

/// Whether every row sees one unbroken text: itself, one predecessor's text and what is committed.
/// Rows need not be the drafted tree, which may be cropped or laid out in another way; where they
/// are, the fault is named in its terms and drawn. `draft.root` is the text up to the root.
std::optional<Violation> rows_fault(const PassRows& rows, const Draft& draft);

/// The text that each row of a faultless pass has read.
std::vector<State> texts_of(const PassRows& rows, const Language& language, const Draft& draft);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
