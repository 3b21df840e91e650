// SPDX-License-Identifier: Apache-2.0
#include "harness/export/fill.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "harness/core/text.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

std::string fill(std::string_view text, const std::map<std::string, std::string>& values) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  std::string filled;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find('@'), text.size());
    filled += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    const std::size_t end = text.find_first_not_of(kLetters, 1);
    if (end == 1 || end == text.npos || text[end] != '@') {  // an @ that means itself, as in "$@"
      filled += '@';
      text.remove_prefix(1);
      continue;
    }
    const std::string name(text.substr(1, end - 1));
    const auto value = values.find(name);
    if (value == values.end()) throw std::logic_error(fmt::format("a template asks for {}", name));
    filled += value->second;
    text.remove_prefix(end + 1);
  }
  return filled;
}

std::string toml_string(std::string_view text) {
  // Basic strings of TOML escape as JSON does, but for DEL, which one_line has replaced.
  return Json(one_line(text)).dump();
}

std::string fence_for(std::string_view text) {
  std::string fence = "```";
  while (text.find(fence) != text.npos) fence += '`';
  return fence;
}

}  // namespace gauntlet
