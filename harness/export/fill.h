// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gauntlet {

/// `text` with every @NAME@ replaced by the value of that name. Values are not looked into, so that
/// a contract may hold what it likes. Throws std::logic_error for a name without a value.
std::string fill(std::string_view text, const std::map<std::string, std::string>& values);

/// A basic string of TOML, with its quotes, on one line.
std::string toml_string(std::string_view text);

/// A fence of Markdown code that no line of `text` ends.
std::string fence_for(std::string_view text);

}  // namespace gauntlet
