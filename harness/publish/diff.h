// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/publish/clean_text.h"

namespace gauntlet {

/// The first characters of what may not be shown, at most four and at most a quarter of it:
/// "ghp_***".
std::string first_characters(std::string_view secret);

/// The text with first characters only of what was found in it, on one line: for names of files.
std::string masked(const RuleBook& rules, std::string_view text);

/// A unified diff for people. It cannot be applied: of what is taken away, and of what is left, it
/// shows the first characters only, and of long lines what stands around an edit. Safe to print.
std::string masked_diff(std::string_view file, std::string_view text, const CleanText& clean);

}  // namespace gauntlet
