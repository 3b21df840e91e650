// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

/// ", did you mean 'critical'?" when a known name is near enough, else "".
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

/// "a, b and c"; "nothing" for an empty list.
std::string sentence_list(const std::vector<std::string>& items);

bool contains(std::span<const std::string> names, std::string_view name);

/// Text from a stranger, safe to print on a terminal: control bytes, escape sequences and invalid
/// UTF-8 become U+FFFD; tabs and newlines stay. Cut after `limit` bytes at a character.
std::string printable(std::string_view text, std::size_t limit = 65'536);

/// The same on one line: tabs and newlines become spaces.
std::string one_line(std::string_view text, std::size_t limit = 65'536);

}  // namespace gauntlet
