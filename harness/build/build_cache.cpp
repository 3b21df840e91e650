// SPDX-License-Identifier: Apache-2.0
#include "harness/build/build_cache.h"

#include <atomic>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/file_lock.h"
#include "harness/core/files.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

Json to_json(const CacheKey& key) {
  Json fields = Json::object();
  for (const CacheKey::Field& field : key.fields()) fields[field.name] = field.value;
  return {{"format", CacheKey::kFormat}, {"layer", key.layer()}, {"fields", std::move(fields)}};
}

std::string to_json(const CacheKey& key, const BuildRecord& record, std::string_view library,
                    std::string_view kernels) {
  Json json;
  json["schema"] = kBuildSchema;
  json["key"] = to_json(key);
  json["ok"] = record.ok;
  json["compiler"] = record.compiler;
  json["flags"] = record.flags;
  json["warnings"] = record.warnings;
  json["messages"] = record.messages;
  json["seconds"] = json_number(record.seconds);
  json["library"] = sha256(library);
  if (!kernels.empty()) json["kernels"] = sha256(kernels);
  return json_text(json);
}

/// A folder that becomes an entry as a whole, or goes away.
class Draft {
 public:
  explicit Draft(fs::path place) : place_(std::move(place)) {}
  ~Draft() {
    std::error_code ignored;  // the next prune finds what is left
    fs::remove_all(place_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const fs::path& place() const { return place_; }

 private:
  fs::path place_;
};

}  // namespace

fs::path builds_lock(const fs::path& builds) {
  return builds / ".lock";
}

std::optional<BuiltSolution> BuildCache::find(const CacheKey& key) const {
  const fs::path place = folder_ / key.digest();
  if (!fs::exists(place / kBuildRecord)) return std::nullopt;
  const FileLock lock(builds_lock(folder_), FileLock::Mode::shared);
  return read(place);
}

std::optional<BuiltSolution> BuildCache::read(const fs::path& place) const {
  const fs::path record = place / kBuildRecord;
  if (utimensat(AT_FDCWD, record.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  try {
    const auto fields = JsonFields::of_document(read_file(record), kBuildRecord, kBuildSchema);
    BuiltSolution built;
    built.record.ok = fields.truth("ok");
    built.record.compiler = fields.text("compiler");
    built.record.flags = fields.text("flags");
    built.record.warnings = static_cast<int>(fields.integer("warnings"));
    built.record.messages = fields.text("messages");
    built.record.seconds = fields.number("seconds");
    if (!built.record.ok) return built;
    built.library = place / kLibrary;
    if (sha256(read_file(built.library)) != fields.text("library")) return std::nullopt;
    if (!fields.has("kernels")) return built;
    built.kernels = place / kKernels;
    if (sha256(read_file(built.kernels)) != fields.text("kernels")) return std::nullopt;
    return built;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

BuiltSolution BuildCache::keep(const CacheKey& key, const BuildRecord& record,
                               std::string_view library, std::string_view kernels) const {
  const FileLock lock(builds_lock(folder_), FileLock::Mode::shared);
  const fs::path place = folder_ / key.digest();
  static std::atomic<int> drafts = 0;  // threads may build the same at the same time
  const Draft draft(folder_ / fmt::format("{}{}-{}-{}", kDraftPrefix, getpid(), ++drafts,
                                          place.filename().string()));
  if (record.ok) write_file(draft.place() / kLibrary, library);
  if (!kernels.empty()) write_file(draft.place() / kKernels, kernels);
  write_file(draft.place() / kBuildRecord, to_json(key, record, library, kernels));
  std::error_code error;
  fs::rename(draft.place(), place, error);
  if (!error)
    return {record, record.ok ? place / kLibrary : fs::path(),
            kernels.empty() ? fs::path() : place / kKernels};
  // Somebody else was faster, and may be reading what lies there; or it is damaged.
  auto kept = read(place);
  if (!kept) {
    std::error_code ignored;
    fs::remove_all(place, ignored);
    fs::rename(draft.place(), place, error);
    kept = read(place);
  }
  if (!kept) throw UserError(fmt::format("cannot write {}: {}", place.string(), error.message()));
  return *kept;
}

}  // namespace gauntlet
