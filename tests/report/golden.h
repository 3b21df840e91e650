// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>

#include "harness/core/files.h"

namespace gauntlet {

/// Compares with tests/report/golden/<name>; with UPDATE_GOLDEN=1 in the environment writes it.
inline void check_golden(const std::string& name, const std::string& text) {
  const auto file = std::filesystem::path(GAUNTLET_ROOT) / "tests/report/golden" / name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) write_file(file, text);
  INFO("UPDATE_GOLDEN=1 accepts what is printed now as ", name);
  CHECK(read_file(file) == text);
}

}  // namespace gauntlet
