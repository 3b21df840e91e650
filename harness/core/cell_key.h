// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "harness/core/check.h"

namespace gauntlet {

/// What a cell of the matrix is about. Cells of different sizes or devices are never compared, and
/// no attempt hides another. What is usual is not written: the standard size, the CPU, attempt 1.
/// Names hold no dot (challenges), '/', '@' or '#' (all).
struct CellKey {
  std::string submission;  // folder name under submissions/, or "reference"
  std::string challenge;
  std::string size = {};  // empty: the standard one
  Device device = Device::cpu;
  int attempt = 1;  // of independent generations by the same model, to kMostAttempts

  static constexpr int kMostAttempts = 999;

  // NOLINTNEXTLINE(modernize-use-nullptr): the 0 is of the compiler's own making
  auto operator<=>(const CellKey&) const = default;
  bool is_standard() const { return size.empty(); }

  std::string text() const;    // "bravo/first.small@cuda#2"
  std::string row() const;     // of the matrix: "bravo@cuda#2"
  std::string column() const;  // of the matrix: "first.small"

  /// "first.small@cuda": what is named beside a submission, and the folder that keeps the result.
  std::string entry() const;

  /// "bravo@cuda": all attempts together; and "bravo@cuda#1": one of several, the first being
  /// numbered like the others.
  std::string submission_row() const;
  std::string attempt_row() const;

  /// "bravo#2": one attempt on whatever devices. It has one model.yaml.
  std::string generation() const;

  /// What row() and column() wrote. "@DEVICE" and "#ATTEMPT" may stand behind the column instead,
  /// as in text(). Throws UserError for an unknown device, for an attempt that is no number from 1
  /// to kMostAttempts, and for what is named twice. An empty word gives empty names.
  static CellKey of(std::string_view row, std::string_view column = {});
};

/// A word that can stand in a file's name and in a link, one for each row.
std::string file_word(std::string_view row);

}  // namespace gauntlet
