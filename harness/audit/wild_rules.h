// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/audit/wild_code.h"

namespace gauntlet {

/// One change that a rule can make in a source.
struct WildSite {
  std::size_t begin;  // bytes that go
  std::size_t end;
  std::string with;    // what comes in their place
  int line;            // from 1
  std::string before;  // the lines of the change as one
  std::string after;
  int place;  // from 1: of the rule's changes of lines that read like `before`, in the file's order
};

/// A fault that anybody may make anywhere: "less_to_less_equal".
struct WildRule {
  /// Bytes of the source that become another text.
  struct Change {
    std::size_t begin;
    std::size_t end;
    std::string with;
  };
  std::string name;
  std::function<std::vector<Change>(const WildCode&)> find;
};

/// All rules. They change code and directives, never what stands in comments and literals.
std::span<const WildRule> wild_rules();

/// Where the rule can change the source, in its order.
std::vector<WildSite> wild_sites(const WildRule& rule, std::string_view source);

/// The source after the change. What goes leaves its line ends, so that no other line has another
/// number.
std::string changed(std::string_view source, const WildSite& site);

}  // namespace gauntlet
