// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "harness/report/terminal/terminal.h"

namespace gauntlet {

/// Value of an environment variable, "" when it is not set.
using Environment = std::function<std::string(const std::string& name)>;

struct EnvironmentVariable {
  std::string_view name;
  std::string_view meaning;  // a phrase
};

/// Every variable that gauntlet looks at, for `gauntlet help environment` and the man page.
std::span<const EnvironmentVariable> environment_variables();
std::string environment_text();

enum class ColorChoice { automatic, always, never };

/// --color, then NO_COLOR, then CLICOLOR_FORCE and FORCE_COLOR, then TERM=dumb, then whether the
/// stream is a terminal.
bool wants_color(ColorChoice choice, const Environment& environment, bool is_terminal);

/// True when the locale writes UTF-8.
bool speaks_unicode(const Environment& environment);

/// True for a place where a line may be drawn over again: a terminal that is no CI log.
bool redraws(const Environment& environment, bool is_terminal);

TerminalStyle style_for(ColorChoice choice, const Environment& environment, bool is_terminal);

}  // namespace gauntlet
