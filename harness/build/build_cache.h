// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "harness/build/solution.h"
#include "harness/store/cache_key.h"

namespace gauntlet {

/// What the linker writes, and the name under which a cache keeps it.
inline constexpr const char* kLibrary = "solution.so";
inline constexpr const char* kKernels = "solution.ptx";

/// Schema of the record of a build.
inline constexpr const char* kBuildSchema = "gauntlet.build/2";
inline constexpr const char* kBuildRecord = "build.json";

// What a process that was killed left half done begins so.
inline constexpr const char* kDraftPrefix = ".draft-";

/// Held shared while an entry is looked up or written, and alone while entries are removed.
std::filesystem::path builds_lock(const std::filesystem::path& builds);

/// Finished builds, one folder each, named by the digest of the key of everything they depend on.
/// A folder appears whole or not at all, so that programs may share a cache. The time of a record
/// is that of its last use.
class BuildCache {
 public:
  explicit BuildCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Nothing for a build that is not there or cannot be read: it is then made anew.
  std::optional<BuiltSolution> find(const CacheKey& key) const;

  /// Keeps the build; `library` is the shared object's content, empty for a failed build, and
  /// `kernels` the device's half where there is one. Throws UserError when the cache cannot be
  /// written.
  BuiltSolution keep(const CacheKey& key, const BuildRecord& record, std::string_view library,
                     std::string_view kernels = {}) const;

 private:
  std::optional<BuiltSolution> read(const std::filesystem::path& place) const;

  std::filesystem::path folder_;
};

}  // namespace gauntlet
