// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/environment.h"

#include <algorithm>
#include <charconv>

namespace gauntlet {

bool wants_color(ColorChoice choice, const Environment& environment, bool is_terminal) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  if (!environment("NO_COLOR").empty()) return false;
  const auto forced = [&](const char* name) {
    const std::string value = environment(name);
    return !value.empty() && value != "0";
  };
  if (forced("CLICOLOR_FORCE") || forced("FORCE_COLOR")) return true;
  return environment("TERM") != "dumb" && is_terminal;
}

bool speaks_unicode(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale = environment(name);
    if (locale.empty()) continue;
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

bool redraws(const Environment& environment, bool is_terminal) {
  return is_terminal && environment("CI").empty() && environment("TERM") != "dumb";
}

TerminalStyle style_for(ColorChoice choice, const Environment& environment, bool is_terminal) {
  TerminalStyle style;
  style.color = wants_color(choice, environment, is_terminal);
  style.unicode = speaks_unicode(environment);
  const std::string columns = environment("COLUMNS");
  int width = 0;
  std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (width > 0) style.width = std::clamp(width, 40, 300);
  return style;
}

}  // namespace gauntlet
