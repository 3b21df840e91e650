// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "harness/grading/cell.h"

namespace gauntlet {

inline constexpr const char* kChallenge = "layernorm_backward";

/// This checkout and the programs of this build.
inline GradingEnvironment environment() {
  const std::filesystem::path root = GAUNTLET_ROOT;
  return {root, std::filesystem::path(GAUNTLET_BIN) / "gauntlet-worker", root / "build/cache",
          "test"};
}

}  // namespace gauntlet
