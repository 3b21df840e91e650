// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace gauntlet {

/// What Gauntlet brings, and what it works on. A checkout is both; an installed program has its data
/// elsewhere and works where it was called.
struct Folders {
  std::filesystem::path data;       // challenges/, reference/, graders/, the rubric
  std::filesystem::path workspace;  // submissions/, results/, reports/, build/

  static Folders checkout(const std::filesystem::path& folder) { return {folder, folder}; }
};

}  // namespace gauntlet
