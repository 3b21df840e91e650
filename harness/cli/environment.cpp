// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/environment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::array<EnvironmentVariable, 14> kVariables{{
    {"GAUNTLET_DATA_DIR",
     "folder of challenges, references and rubric, in place of those that came with the program"},
    {"XDG_CACHE_HOME",
     "an installed program keeps compiled code in its folder gauntlet; else in "
     "~/.cache/gauntlet"},
    {"HOME", "see XDG_CACHE_HOME; sanitize removes its path from files"},
    {"TMPDIR", "folder of scratch folders, else /tmp"},
    {"NO_COLOR", "no colour, if it is not empty and --color says nothing"},
    {"CLICOLOR_FORCE", "colour, even where nothing is a terminal; 0 says nothing"},
    {"FORCE_COLOR", "the same"},
    {"TERM", "dumb: no colour, and no line is drawn over again"},
    {"COLUMNS", "width of tables"},
    {"LC_ALL", "with LC_CTYPE and LANG: signs beyond ASCII where the locale writes UTF-8"},
    {"CI", "not empty: no line is drawn over again"},
    {"GITHUB_ACTIONS", "true: ci prints annotations"},
    {"GITHUB_STEP_SUMMARY", "file that ci appends its summary to"},
    {"SLURMD_NODENAME", "set by Slurm: the node, whose races wait for each other and no other's"},
}};

}  // namespace

std::span<const EnvironmentVariable> environment_variables() {
  return kVariables;
}

std::string environment_text() {
  std::string text;
  for (const EnvironmentVariable& row : kVariables)
    text += fmt::format("{}\n    {}\n", row.name, row.meaning);
  return text;
}

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
