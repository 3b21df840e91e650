// SPDX-License-Identifier: Apache-2.0
#include "harness/core/source_text.h"

#include <cctype>

#include "harness/core/tokens.h"

namespace gauntlet {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

bool is_operator(char c) {
  return std::string_view("+-*/%<>=!&|^~:.#?").find(c) != std::string_view::npos;
}

/// True when the two might become one token without a space: words, a literal and its prefix or
/// suffix, operators.
bool could_join(char before, char after) {
  if (is_operator(before) && is_operator(after)) return true;
  return (is_word(before) && (is_word(after) || is_quote(after))) ||
         (is_quote(before) && is_word(after));
}

bool begins_directive(const Token& token, std::string_view source) {
  if (!token.directive || token.text != "#") return false;
  const std::size_t before = source.substr(0, token.place).find_last_not_of(" \t\v\f\r");
  return before == std::string_view::npos || source[before] == '\n';
}

}  // namespace

std::string significant_text(std::string_view source) {
  std::string text;
  bool directive = false;
  for (const Token& token : tokens(source)) {
    // A line of the preprocessor stays a line.
    const bool begins = begins_directive(token, source);
    if (!text.empty() && (begins || (directive && !token.directive))) text += '\n';
    directive = token.directive;
    // In a directive a space also tells a macro's parameters from its text.
    const bool first = text.empty() || text.back() == '\n';
    if (token.gap && !first && (directive || could_join(text.back(), token.text.front())))
      text += ' ';
    text += token.text;
  }
  if (directive) text += '\n';
  return text;
}

}  // namespace gauntlet
