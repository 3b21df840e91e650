// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/publish/rules.h"

namespace gauntlet {

/// What takes the place of bytes of a text.
struct Edit {
  std::size_t begin;
  std::size_t end;
  std::string put;
  std::size_t rule;  // in RuleBook::rules()
};

/// A text as it can be published. Edits and what was left stand in the order of the text.
struct CleanText {
  std::vector<Edit> edits;
  std::vector<Match> left;  // found where nothing may be replaced: a person has to
  std::string text;         // after the edits
};

/// Replaces until nothing is found any more, so that a second run finds nothing. In C++, what
/// stands in comments and in literals is replaced, and the code around must be the same afterwards,
/// token by token; names, numbers and the files that it includes are left.
CleanText clean_text(const RuleBook& rules, std::string_view text, bool cpp);

/// The text with every edit done.
std::string edited(std::string_view text, const std::vector<Edit>& edits);

}  // namespace gauntlet
