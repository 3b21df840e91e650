// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gauntlet {

/// Something that a cache holds and that can be made again.
struct CacheEntry {
  enum class Kind {
    build,       // `layer` says of what
    wild,        // a mutant that an audit made by rules, as a submission's folder
    unusable,    // of another key format, or damaged: nothing finds it
    unfinished,  // what a killed process was writing or removing
  };
  Kind kind = Kind::build;
  std::string layer;  // of its key, "solution"
  std::filesystem::path place;
  std::uint64_t bytes = 0;
  std::filesystem::file_time_type last_use;
};

/// All of them, the longest unused first; none for a folder that is not there.
std::vector<CacheEntry> cache_contents(const std::filesystem::path& cache);

/// What is to go. What nothing can use always goes.
struct PruneRule {
  std::optional<std::chrono::seconds> older_than;  // since the last use
  std::optional<std::uint64_t> most_bytes;         // of all that stays; the longest unused go first
};

struct Pruned {
  std::vector<CacheEntry> entries;  // that go, or would
  std::uint64_t bytes_left = 0;
  int in_use = 0;  // entries that the rule would take, and that a process which runs may use
};

/// Removes entries where `write` says so, and else only says which. Never one that was used since
/// the first of the processes that use the cache began: see CacheUse. Waits while one looks an
/// entry up or writes one. Throws UserError for what cannot be removed.
Pruned prune_cache(const std::filesystem::path& cache, const PruneRule& rule, bool write);

}  // namespace gauntlet
