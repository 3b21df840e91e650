// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

/// A text without its continued lines, as the preprocessor reads it.
struct Joined {
  std::string text;
  std::vector<std::size_t> place;  // of each character in the file
};

Joined joined(std::string_view raw);

/// What may be a directive: the text alone does not tell comments and strings from code, so there
/// can be more of these than the compiler meets, never less.
struct Directive {
  std::size_t name = 0;   // where it begins in the joined text: "define", "line", "1"
  bool comments = false;  // before the '#' in its line, or behind it
};

std::vector<Directive> directives(std::string_view joined);

/// The first place from here on that is neither blank nor comment; `comments` is set behind one.
std::size_t past_blanks(std::string_view joined, std::size_t at, bool& comments);

bool is_blank(char c);
bool is_digit(char c);
bool is_word(char c);  // of a name or number

/// The line, from 1, of a place in a file.
int line_at(std::string_view content, std::size_t place);

}  // namespace gauntlet
