// SPDX-License-Identifier: Apache-2.0
#include "harness/build/cache_contents.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/build/build_cache.h"
#include "harness/build/cache_use.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;  // there may be none, or it may go while we look
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    if (entry->is_directory(gone)) found.push_back(entry->path());
  }
  return found;
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    const std::uint64_t size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

/// The layer of a build's key; empty where nothing finds the build.
std::string layer_of(const fs::path& place) {
  try {
    const auto record =
        JsonFields::of_document(read_file(place / kBuildRecord), kBuildRecord, kBuildSchema);
    const JsonFields key = record.fields("key");
    return key.integer("format") == CacheKey::kFormat ? key.text("layer") : "";
  } catch (const UserError&) {
    return "";
  }
}

CacheEntry entry_at(const fs::path& place, CacheEntry::Kind kind) {
  CacheEntry entry{kind, "", place, bytes_in(place), {}};
  std::error_code gone;
  entry.last_use = fs::last_write_time(place / kBuildRecord, gone);
  if (gone) entry.last_use = fs::last_write_time(place, gone);
  if (kind == CacheEntry::Kind::build) entry.layer = layer_of(place);
  if (kind == CacheEntry::Kind::build && entry.layer.empty())
    entry.kind = CacheEntry::Kind::unusable;
  if (place.filename().string().starts_with(kDraftPrefix))
    entry.kind = CacheEntry::Kind::unfinished;
  return entry;
}

[[noreturn]] void fail_to_remove(const fs::path& place, const std::error_code& error) {
  throw UserError(fmt::format("cannot remove {}: {}; remove it, or make its folder writable",
                              place.string(), error.message()));
}

/// In one step out of everybody's sight. Answers where it is then.
fs::path hide(const CacheEntry& entry) {
  if (entry.kind == CacheEntry::Kind::unfinished) return entry.place;
  const fs::path hidden =
      entry.place.parent_path() / (kDraftPrefix + entry.place.filename().string());
  std::error_code error;
  fs::rename(entry.place, hidden, error);
  if (error) fail_to_remove(entry.place, error);
  return hidden;
}

/// Which of them go, of the longest unused first.
Pruned chosen(const std::vector<CacheEntry>& contents, const PruneRule& rule,
              const std::optional<fs::file_time_type>& in_use_since) {
  const auto now = fs::file_time_type::clock::now();
  Pruned pruned;
  for (const CacheEntry& entry : contents) pruned.bytes_left += entry.bytes;
  for (const CacheEntry& entry : contents) {
    const bool unfinished = entry.kind == CacheEntry::Kind::unfinished;
    const bool unusable = entry.kind == CacheEntry::Kind::unusable;
    const bool old = rule.older_than && now - entry.last_use > *rule.older_than;
    const bool too_much = rule.most_bytes && pruned.bytes_left > *rule.most_bytes;
    if (!unfinished && !unusable && !old && !too_much) continue;
    if (!unfinished && in_use_since && entry.last_use >= *in_use_since) {
      ++pruned.in_use;
      continue;
    }
    pruned.bytes_left -= entry.bytes;
    pruned.entries.push_back(entry);
  }
  return pruned;
}

}  // namespace

std::vector<CacheEntry> cache_contents(const fs::path& cache) {
  std::vector<CacheEntry> contents;
  for (const fs::path& place : folders_in(cache / "builds"))
    contents.push_back(entry_at(place, CacheEntry::Kind::build));
  for (const fs::path& place : folders_in(cache / "wild"))
    contents.push_back(entry_at(place, CacheEntry::Kind::wild));
  std::sort(contents.begin(), contents.end(), [](const CacheEntry& a, const CacheEntry& b) {
    return std::pair(a.last_use, a.place) < std::pair(b.last_use, b.place);
  });
  return contents;
}

Pruned prune_cache(const fs::path& cache, const PruneRule& rule, bool write) {
  if (!fs::exists(cache)) return {};
  Pruned pruned;
  std::vector<fs::path> hidden;
  {
    // Alone: what lies half written now is nobody's, and who looks an entry up afterwards finds it
    // whole or not at all.
    const FileLock alone(builds_lock(cache / "builds"), FileLock::Mode::exclusive);
    pruned = chosen(cache_contents(cache), rule, in_use_since(cache));
    if (write)
      for (const CacheEntry& entry : pruned.entries) hidden.push_back(hide(entry));
  }
  for (const fs::path& place : hidden) {
    std::error_code error;
    fs::remove_all(place, error);
    if (error) fail_to_remove(place, error);
  }
  return pruned;
}

}  // namespace gauntlet
