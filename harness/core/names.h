// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gauntlet {

/// The printed words of an enum whose values count up from zero, in order.
template <class Enum, std::size_t N>
struct NameTable {
  std::string_view kind;  // "verdict": what an error message calls the set
  std::array<std::string_view, N> words;

  constexpr std::string_view of(Enum value) const {
    return words.at(static_cast<std::size_t>(value));
  }

  Enum named(std::string_view word) const {
    for (std::size_t i = 0; i < N; ++i)
      if (words[i] == word) return static_cast<Enum>(i);
    std::string known;
    for (const auto known_word : words)
      known += (known.empty() ? "" : ", ") + std::string(known_word);
    throw std::invalid_argument("'" + std::string(word) + "' is no " + std::string(kind) +
                                "; known: " + known);
  }
};

/// Lower-case letters, digits, dots, dashes and underscores, at most 64 bytes, beginning with a
/// letter or digit: names of folders that need no quoting anywhere.
bool is_plain_name(std::string_view name);

/// Why no submission can have this name, with what can be done; empty when one can. It is a plain
/// one, and none that a report could take for a file of its own or for a pair of submissions.
std::string why_no_submission_name(std::string_view name);

}  // namespace gauntlet
