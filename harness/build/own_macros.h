// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/build/solution.h"

namespace gauntlet {

/// A macro that a file of a submission's defines or undefines, as far as the text tells: perhaps in
/// a comment or behind a condition that does not hold.
struct OwnMacro {
  std::string name;
  std::string file;
  int line = 0;
  bool takes_arguments = false;
  std::string setting = {};      // when it is a number or nothing: "1", " "
  bool include_follows = false;  // in this file

  /// By its settings a program chooses among the texts of a header; it brings none of its own. The
  /// names that are reserved for the system are no settings, but for the documented ones.
  bool is_setting() const { return !setting.empty(); }
};

/// All of them, but for those of the submission's own names that are only undefined.
std::vector<OwnMacro> own_macros(const std::vector<SolutionSource::File>& files);

/// The system keeps names like this one, "__x" or "_X", for itself.
bool is_reserved(std::string_view name);

}  // namespace gauntlet
