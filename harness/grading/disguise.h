// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/rng.h"

namespace gauntlet {

/// The assembly text of one solution, for a library that it shares with others and in which its
/// code is not to be known again: the same instructions in the same order, under names of its own,
/// with instructions that do nothing between them, and without unwind tables.
class Disguise {
 public:
  /// `parts`: what build_assembly made. Names that the solution defines get `prefix`.
  Disguise(std::string parts, std::string prefix);

  /// A file for each part. On machines other than x86-64 the code stays as it is.
  std::vector<std::string> draw(Rng& rng) const;

  /// What runs when a library is loaded. The files leave it out, since in a library of many
  /// solutions only one of them shall run: its names are for whoever links them.
  const std::vector<std::string>& initialisers() const { return initialisers_; }

 private:
  std::string renamed(std::string_view line) const;

  std::unique_ptr<const std::string> text_;
  std::vector<std::vector<std::string_view>> parts_;  // lines, which lie in text_
  std::string prefix_;
  std::set<std::string, std::less<>> own_names_;  // that the linker sees
  std::vector<std::string> initialisers_;
};

}  // namespace gauntlet
