// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "harness/build/solution.h"

namespace gauntlet {

/// What the linker writes, and the name under which a cache keeps it.
inline constexpr const char* kLibrary = "solution.so";
inline constexpr const char* kKernels = "solution.ptx";

/// Finished builds, one folder each, named by the digest of everything they depend on. A folder
/// appears whole or not at all, so that programs may share a cache.
class BuildCache {
 public:
  explicit BuildCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Nothing for a build that is not there or cannot be read: it is then made anew.
  std::optional<BuiltSolution> find(const std::string& key) const;

  /// Keeps the build; `library` is the shared object's content, empty for a failed build, and
  /// `kernels` the device's half where there is one. Throws UserError when the cache cannot be
  /// written.
  BuiltSolution keep(const std::string& key, const BuildRecord& record, std::string_view library,
                     std::string_view kernels = {}) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace gauntlet
