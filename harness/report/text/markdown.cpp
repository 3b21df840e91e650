// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/markdown.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "harness/core/text.h"

namespace gauntlet::markdown {
namespace {

std::string fence_around(std::string_view text, std::size_t shortest) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max(longest + 1, shortest), '`');
}

void add_line(const std::vector<std::string>& cells, std::string& text) {
  text += '|';
  for (const auto& cell : cells) text.append(" ").append(cell).append(" |");
  text += '\n';
}

}  // namespace

std::string text(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*{}[]<>|&!~$^";
  const std::string line = one_line(text);
  const auto is_word = [&](std::size_t i) {
    return i < line.size() && std::isalnum(static_cast<unsigned char>(line[i])) != 0;
  };
  std::string safe;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool www = c == '.' && i > 0 && (line[i - 1] == 'w' || line[i - 1] == 'W');
    const bool protocol = c == ':' && i + 1 < line.size() && line[i + 1] == '/';
    const bool emphasis = c == '_' && !(i > 0 && is_word(i - 1) && is_word(i + 1));
    // A comment after the sign keeps GitHub from seeing a mention, an address or a reference.
    if (c == '@' || c == '#')
      safe += std::string(1, c) + "<!-- -->";
    else if (kMarkup.find(c) != std::string_view::npos || www || protocol || emphasis)
      safe += fmt::format("&#{};", static_cast<int>(c));
    else
      safe += c;
  }
  return safe;
}

std::string code(std::string_view text) {
  const std::string line = one_line(text);
  if (line.empty()) return "";
  const std::string fence = fence_around(line, 1);
  const bool pad = line.front() == '`' || line.back() == '`' || line.front() == ' ';
  return pad ? fmt::format("{0} {1} {0}", fence, line) : fmt::format("{0}{1}{0}", fence, line);
}

std::string block(std::string_view text, std::string_view indent) {
  std::string lines = printable(text);
  while (!lines.empty() && lines.back() == '\n') lines.pop_back();
  const std::string fence = fence_around(lines, 3);
  std::string result = fmt::format("{}{}text\n{}", indent, fence, indent);
  for (const char c : lines) {
    result += c;
    if (c == '\n') result += indent;
  }
  return result + fmt::format("\n{}{}\n", indent, fence);
}

std::string Table::str() const {
  std::vector<std::string> rule(header_.size(), "--:");
  std::fill_n(rule.begin(), std::min(left_, rule.size()), "---");
  std::string result;
  add_line(header_, result);
  add_line(rule, result);
  for (const auto& row : rows_) add_line(row, result);
  return result;
}

}  // namespace gauntlet::markdown
