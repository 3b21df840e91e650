// SPDX-License-Identifier: Apache-2.0
#include "harness/build/build_cache.h"

#include <atomic>
#include <fmt/format.h>
#include <unistd.h>

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSchema = "gauntlet.build/1";
constexpr const char* kRecord = "build.json";

std::string to_json(const BuildRecord& record, std::string_view library, std::string_view kernels) {
  Json json;
  json["schema"] = kSchema;
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

}  // namespace

std::optional<BuiltSolution> BuildCache::find(const std::string& key) const {
  const fs::path place = folder_ / key;
  if (!fs::exists(place / kRecord)) return std::nullopt;
  try {
    const auto fields = JsonFields::of_document(read_file(place / kRecord), kRecord, kSchema);
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

BuiltSolution BuildCache::keep(const std::string& key, const BuildRecord& record,
                               std::string_view library, std::string_view kernels) const {
  const fs::path place = folder_ / key;
  static std::atomic<int> drafts = 0;  // threads may build the same at the same time
  const fs::path draft = folder_ / fmt::format(".draft-{}-{}-{}", getpid(), ++drafts, key);
  if (record.ok) write_file(draft / kLibrary, library);
  if (!kernels.empty()) write_file(draft / kKernels, kernels);
  write_file(draft / kRecord, to_json(record, library, kernels));
  std::error_code error;
  fs::rename(draft, place, error);
  if (!error)
    return {record, record.ok ? place / kLibrary : fs::path(),
            kernels.empty() ? fs::path() : place / kKernels};
  // Somebody else was faster, and may be reading what lies there; or it is damaged.
  auto kept = find(key);
  std::error_code ignored;
  if (!kept) {
    fs::remove_all(place, ignored);
    fs::rename(draft, place, error);
    kept = find(key);
  }
  fs::remove_all(draft, ignored);
  if (!kept) throw UserError(fmt::format("cannot write {}: {}", place.string(), error.message()));
  return *kept;
}

}  // namespace gauntlet
