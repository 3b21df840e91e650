// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "harness/core/file_lock.h"

namespace gauntlet {

/// Says that this process uses a cache, for as long as it lives or one that it forked: nothing that
/// it uses is pruned meanwhile. A file <cache>/in_use/NAME, which is locked.
class CacheUse {
 public:
  /// Throws UserError where the cache cannot be written.
  explicit CacheUse(const std::filesystem::path& cache);
  ~CacheUse();
  CacheUse(const CacheUse&) = delete;
  CacheUse& operator=(const CacheUse&) = delete;

 private:
  std::filesystem::path file_;
  std::optional<FileLock> lock_;
};

/// When the first of the processes that use the cache now began to; nothing when none does. Removes
/// what killed ones left.
std::optional<std::filesystem::file_time_type> in_use_since(const std::filesystem::path& cache);

}  // namespace gauntlet
