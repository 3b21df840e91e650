// SPDX-License-Identifier: Apache-2.0
#include "harness/build/directives.h"

#include <algorithm>
#include <cctype>

namespace gauntlet {
namespace {

bool may_begin_line(std::string_view text, std::size_t at, Directive& directive) {
  while (at > 0 && is_blank(text[at - 1])) --at;
  directive.comments = text.substr(0, at).ends_with("*/");
  const bool byte_order_mark = at == 3 && text.starts_with("\xEF\xBB\xBF");
  return at == 0 || text[at - 1] == '\n' || byte_order_mark || directive.comments;
}

}  // namespace

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

Joined joined(std::string_view raw) {
  Joined all;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    std::size_t end = i + 1;
    while (raw[i] == '\\' && end < raw.size() && is_blank(raw[end])) ++end;
    if (raw[i] == '\\' && end < raw.size() && raw[end] == '\n') {
      i = end;
      continue;
    }
    all.text += raw[i];
    all.place.push_back(i);
  }
  return all;
}

std::size_t past_blanks(std::string_view text, std::size_t at, bool& comments) {
  while (at < text.size()) {
    if (is_blank(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "/*") {
      comments = true;
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    } else {
      break;
    }
  }
  return at;
}

std::vector<Directive> directives(std::string_view text) {
  std::vector<Directive> all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t sign = text[i] == '#' ? 1 : text.substr(i, 2) == "%:" ? 2 : 0;
    Directive directive;
    if (sign == 0 || !may_begin_line(text, i, directive)) continue;
    directive.name = past_blanks(text, i + sign, directive.comments);
    if (directive.name < text.size()) all.push_back(directive);
  }
  return all;
}

int line_at(std::string_view content, std::size_t place) {
  const std::string_view before = content.substr(0, place);
  return static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
}

}  // namespace gauntlet
